target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"


define internal i32 @cd.f.scalars(ptr noundef noalias nocapture readonly align 4 %p0, ptr noundef noalias nocapture align 4 %p1, ptr noundef noalias nocapture align 2 %p2, i32 noundef %p3) mustprogress #0 {
entry:
  br label %body
body:
  br label %loop1
loop1:
  %t1 = phi i32 [ 0, %body ], [ %t2, %next2 ]
  %t3 = icmp sgt i32 %p3, 0
  br i1 %t3, label %loop4, label %done6
loop4:
  %t4 = phi i32 [ 0, %loop1 ], [ %t5, %next5 ]
  %t6 = mul i32 %t4, 3
  %t7 = add i32 2, %t6
  %t8 = sext i32 %t1 to i64
  %t9 = sext i32 %p3 to i64
  %t10 = mul nsw i64 %t8, %t9
  %t11 = sext i32 %t7 to i64
  %t12 = add nsw i64 %t10, %t11
  %t13 = getelementptr inbounds i32, ptr %p0, i64 %t12
  %t14 = load i32, ptr %t13, align 4
  %t15 = add i32 %t14, 7
  %t16 = ashr i32 %t15, 31
  %t17 = xor i32 %t15, %t16
  %t18 = udiv i32 %t17, 3
  %t19 = xor i32 %t18, %t16
  %t20 = icmp slt i32 %t7, %p3
  br i1 %t20, label %then7, label %else8
then7:
  %t21 = sext i32 %t7 to i64
  %t22 = getelementptr inbounds i32, ptr %p0, i64 %t21
  %t23 = load i32, ptr %t22, align 4
  %t24 = mul i32 %t23, %t23
  br label %end9
else8:
  br label %end9
end9:
  %t25 = phi i32 [ %t24, %then7 ], [ -1, %else8 ]
  %t26 = add i32 %t19, %t25
  %t27 = sext i32 %t1 to i64
  %t28 = sext i32 %p3 to i64
  %t29 = mul nsw i64 %t27, %t28
  %t30 = sext i32 %t7 to i64
  %t31 = add nsw i64 %t29, %t30
  %t32 = getelementptr inbounds i32, ptr %p1, i64 %t31
  store i32 %t26, ptr %t32, align 4
  %t33 = add i32 %p3, 1
  %t34 = icmp ult i32 %t33, 2
  %t35 = select i1 %t34, i32 1, i32 %p3
  %t36 = srem i32 %t15, %t35
  %t37 = sext i32 %t1 to i64
  %t38 = mul nsw i64 %t37, 4
  %t39 = add nsw i64 %t38, 1
  %t40 = getelementptr inbounds i32, ptr %p1, i64 %t39
  store i32 %t36, ptr %t40, align 4
  %t41 = sext i32 %t7 to i64
  %t42 = getelementptr inbounds i16, ptr %p2, i64 %t41
  %t43 = load i16, ptr %t42, align 2
  %t44 = zext i16 %t43 to i32
  %t45 = and i32 %t44, 32768
  %t46 = shl i32 %t45, 16
  %t47 = and i32 %t44, 32767
  %t48 = shl i32 %t47, 13
  %t49 = add i32 %t48, 939524096
  %t50 = or i32 %t48, 2139095040
  %t51 = icmp uge i32 %t47, 31744
  %t52 = select i1 %t51, i32 %t50, i32 %t49
  %t53 = uitofp i32 %t47 to float
  %t54 = fmul float %t53, 0x3E70000000000000
  %t55 = bitcast float %t54 to i32
  %t56 = icmp ult i32 %t47, 1024
  %t57 = select i1 %t56, i32 %t55, i32 %t52
  %t58 = or i32 %t57, %t46
  %t59 = bitcast i32 %t58 to float
  %t60 = zext i16 11878 to i32
  %t61 = and i32 %t60, 32768
  %t62 = shl i32 %t61, 16
  %t63 = and i32 %t60, 32767
  %t64 = shl i32 %t63, 13
  %t65 = add i32 %t64, 939524096
  %t66 = or i32 %t64, 2139095040
  %t67 = icmp uge i32 %t63, 31744
  %t68 = select i1 %t67, i32 %t66, i32 %t65
  %t69 = uitofp i32 %t63 to float
  %t70 = fmul float %t69, 0x3E70000000000000
  %t71 = bitcast float %t70 to i32
  %t72 = icmp ult i32 %t63, 1024
  %t73 = select i1 %t72, i32 %t71, i32 %t68
  %t74 = or i32 %t73, %t62
  %t75 = bitcast i32 %t74 to float
  %t76 = fmul contract float %t59, %t75
  %t77 = bitcast float %t76 to i32
  %t78 = lshr i32 %t77, 16
  %t79 = and i32 %t78, 32768
  %t80 = and i32 %t77, 2147483647
  %t81 = lshr i32 %t80, 13
  %t82 = and i32 %t81, 1
  %t83 = add i32 %t82, 3355447295
  %t84 = add i32 %t80, %t83
  %t85 = lshr i32 %t84, 13
  %t86 = bitcast i32 %t80 to float
  %t87 = fadd float %t86, 0x3FE0000000000000
  %t88 = bitcast float %t87 to i32
  %t89 = sub i32 %t88, 1056964608
  %t90 = icmp ult i32 %t80, 947912704
  %t91 = select i1 %t90, i32 %t89, i32 %t85
  %t92 = icmp uge i32 %t80, 1199566848
  %t93 = select i1 %t92, i32 31744, i32 %t91
  %t94 = and i32 %t81, 511
  %t95 = or i32 %t94, 32256
  %t96 = icmp ugt i32 %t80, 2139095040
  %t97 = select i1 %t96, i32 %t95, i32 %t93
  %t98 = or i32 %t97, %t79
  %t99 = trunc i32 %t98 to i16
  %t100 = sext i32 %t7 to i64
  %t101 = getelementptr inbounds i32, ptr %p0, i64 %t100
  %t102 = load i32, ptr %t101, align 4
  %t103 = call i32 @llvm.smin.i32(i32 %t102, i32 131072)
  %t104 = call i32 @llvm.smax.i32(i32 %t103, i32 -131072)
  %t105 = sitofp i32 %t104 to float
  %t106 = bitcast float %t105 to i32
  %t107 = lshr i32 %t106, 16
  %t108 = and i32 %t107, 32768
  %t109 = and i32 %t106, 2147483647
  %t110 = lshr i32 %t109, 13
  %t111 = and i32 %t110, 1
  %t112 = add i32 %t111, 3355447295
  %t113 = add i32 %t109, %t112
  %t114 = lshr i32 %t113, 13
  %t115 = bitcast i32 %t109 to float
  %t116 = fadd float %t115, 0x3FE0000000000000
  %t117 = bitcast float %t116 to i32
  %t118 = sub i32 %t117, 1056964608
  %t119 = icmp ult i32 %t109, 947912704
  %t120 = select i1 %t119, i32 %t118, i32 %t114
  %t121 = icmp uge i32 %t109, 1199566848
  %t122 = select i1 %t121, i32 31744, i32 %t120
  %t123 = and i32 %t110, 511
  %t124 = or i32 %t123, 32256
  %t125 = icmp ugt i32 %t109, 2139095040
  %t126 = select i1 %t125, i32 %t124, i32 %t122
  %t127 = or i32 %t126, %t108
  %t128 = trunc i32 %t127 to i16
  %t129 = zext i16 %t99 to i32
  %t130 = and i32 %t129, 32768
  %t131 = shl i32 %t130, 16
  %t132 = and i32 %t129, 32767
  %t133 = shl i32 %t132, 13
  %t134 = add i32 %t133, 939524096
  %t135 = or i32 %t133, 2139095040
  %t136 = icmp uge i32 %t132, 31744
  %t137 = select i1 %t136, i32 %t135, i32 %t134
  %t138 = uitofp i32 %t132 to float
  %t139 = fmul float %t138, 0x3E70000000000000
  %t140 = bitcast float %t139 to i32
  %t141 = icmp ult i32 %t132, 1024
  %t142 = select i1 %t141, i32 %t140, i32 %t137
  %t143 = or i32 %t142, %t131
  %t144 = bitcast i32 %t143 to float
  %t145 = zext i16 %t128 to i32
  %t146 = and i32 %t145, 32768
  %t147 = shl i32 %t146, 16
  %t148 = and i32 %t145, 32767
  %t149 = shl i32 %t148, 13
  %t150 = add i32 %t149, 939524096
  %t151 = or i32 %t149, 2139095040
  %t152 = icmp uge i32 %t148, 31744
  %t153 = select i1 %t152, i32 %t151, i32 %t150
  %t154 = uitofp i32 %t148 to float
  %t155 = fmul float %t154, 0x3E70000000000000
  %t156 = bitcast float %t155 to i32
  %t157 = icmp ult i32 %t148, 1024
  %t158 = select i1 %t157, i32 %t156, i32 %t153
  %t159 = or i32 %t158, %t147
  %t160 = bitcast i32 %t159 to float
  %t161 = fadd contract float %t144, %t160
  %t162 = bitcast float %t161 to i32
  %t163 = lshr i32 %t162, 16
  %t164 = and i32 %t163, 32768
  %t165 = and i32 %t162, 2147483647
  %t166 = lshr i32 %t165, 13
  %t167 = and i32 %t166, 1
  %t168 = add i32 %t167, 3355447295
  %t169 = add i32 %t165, %t168
  %t170 = lshr i32 %t169, 13
  %t171 = bitcast i32 %t165 to float
  %t172 = fadd float %t171, 0x3FE0000000000000
  %t173 = bitcast float %t172 to i32
  %t174 = sub i32 %t173, 1056964608
  %t175 = icmp ult i32 %t165, 947912704
  %t176 = select i1 %t175, i32 %t174, i32 %t170
  %t177 = icmp uge i32 %t165, 1199566848
  %t178 = select i1 %t177, i32 31744, i32 %t176
  %t179 = and i32 %t166, 511
  %t180 = or i32 %t179, 32256
  %t181 = icmp ugt i32 %t165, 2139095040
  %t182 = select i1 %t181, i32 %t180, i32 %t178
  %t183 = or i32 %t182, %t164
  %t184 = trunc i32 %t183 to i16
  %t185 = sext i32 %t7 to i64
  %t186 = getelementptr inbounds i16, ptr %p2, i64 %t185
  store i16 %t184, ptr %t186, align 2
  br label %next5
next5:
  %t5 = add nuw nsw i32 %t4, 1
  %t187 = icmp eq i32 %t5, %p3
  br i1 %t187, label %done6, label %loop4
done6:
  br label %next2
next2:
  %t2 = add nuw nsw i32 %t1, 1
  %t188 = icmp eq i32 %t2, 8
  br i1 %t188, label %done3, label %loop1
done3:
  ret i32 0
}

declare i32 @llvm.smax.i32(i32, i32)
declare i32 @llvm.smin.i32(i32, i32)

attributes #0 = { nounwind "target-cpu"="x86-64-v3" }
