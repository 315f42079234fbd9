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
  %t33 = icmp eq i32 %p3, 0
  %t34 = icmp eq i32 %p3, -1
  %t35 = icmp eq i32 %t15, -2147483648
  %t36 = and i1 %t34, %t35
  %t37 = or i1 %t33, %t36
  %t38 = select i1 %t37, i32 1, i32 %p3
  %t39 = srem i32 %t15, %t38
  %t40 = sext i32 %t1 to i64
  %t41 = mul nsw i64 %t40, 4
  %t42 = add nsw i64 %t41, 1
  %t43 = getelementptr inbounds i32, ptr %p1, i64 %t42
  store i32 %t39, ptr %t43, align 4
  %t44 = sext i32 %t7 to i64
  %t45 = getelementptr inbounds i16, ptr %p2, i64 %t44
  %t46 = load i16, ptr %t45, align 2
  %t47 = zext i16 %t46 to i32
  %t48 = and i32 %t47, 32768
  %t49 = shl i32 %t48, 16
  %t50 = and i32 %t47, 32767
  %t51 = shl i32 %t50, 13
  %t52 = add i32 %t51, 939524096
  %t53 = or i32 %t51, 2139095040
  %t54 = icmp uge i32 %t50, 31744
  %t55 = select i1 %t54, i32 %t53, i32 %t52
  %t56 = uitofp i32 %t50 to float
  %t57 = fmul float %t56, 0x3E70000000000000
  %t58 = bitcast float %t57 to i32
  %t59 = icmp ult i32 %t50, 1024
  %t60 = select i1 %t59, i32 %t58, i32 %t55
  %t61 = or i32 %t60, %t49
  %t62 = bitcast i32 %t61 to float
  %t63 = zext i16 11878 to i32
  %t64 = and i32 %t63, 32768
  %t65 = shl i32 %t64, 16
  %t66 = and i32 %t63, 32767
  %t67 = shl i32 %t66, 13
  %t68 = add i32 %t67, 939524096
  %t69 = or i32 %t67, 2139095040
  %t70 = icmp uge i32 %t66, 31744
  %t71 = select i1 %t70, i32 %t69, i32 %t68
  %t72 = uitofp i32 %t66 to float
  %t73 = fmul float %t72, 0x3E70000000000000
  %t74 = bitcast float %t73 to i32
  %t75 = icmp ult i32 %t66, 1024
  %t76 = select i1 %t75, i32 %t74, i32 %t71
  %t77 = or i32 %t76, %t65
  %t78 = bitcast i32 %t77 to float
  %t79 = fmul contract float %t62, %t78
  %t80 = bitcast float %t79 to i32
  %t81 = lshr i32 %t80, 16
  %t82 = and i32 %t81, 32768
  %t83 = and i32 %t80, 2147483647
  %t84 = lshr i32 %t83, 13
  %t85 = and i32 %t84, 1
  %t86 = add i32 %t85, 3355447295
  %t87 = add i32 %t83, %t86
  %t88 = lshr i32 %t87, 13
  %t89 = bitcast i32 %t83 to float
  %t90 = fadd float %t89, 0x3FE0000000000000
  %t91 = bitcast float %t90 to i32
  %t92 = sub i32 %t91, 1056964608
  %t93 = icmp ult i32 %t83, 947912704
  %t94 = select i1 %t93, i32 %t92, i32 %t88
  %t95 = icmp uge i32 %t83, 1199566848
  %t96 = select i1 %t95, i32 31744, i32 %t94
  %t97 = and i32 %t84, 511
  %t98 = or i32 %t97, 32256
  %t99 = icmp ugt i32 %t83, 2139095040
  %t100 = select i1 %t99, i32 %t98, i32 %t96
  %t101 = or i32 %t100, %t82
  %t102 = trunc i32 %t101 to i16
  %t103 = sext i32 %t7 to i64
  %t104 = getelementptr inbounds i32, ptr %p0, i64 %t103
  %t105 = load i32, ptr %t104, align 4
  %t106 = call i32 @llvm.smin.i32(i32 %t105, i32 131072)
  %t107 = call i32 @llvm.smax.i32(i32 %t106, i32 -131072)
  %t108 = sitofp i32 %t107 to float
  %t109 = bitcast float %t108 to i32
  %t110 = lshr i32 %t109, 16
  %t111 = and i32 %t110, 32768
  %t112 = and i32 %t109, 2147483647
  %t113 = lshr i32 %t112, 13
  %t114 = and i32 %t113, 1
  %t115 = add i32 %t114, 3355447295
  %t116 = add i32 %t112, %t115
  %t117 = lshr i32 %t116, 13
  %t118 = bitcast i32 %t112 to float
  %t119 = fadd float %t118, 0x3FE0000000000000
  %t120 = bitcast float %t119 to i32
  %t121 = sub i32 %t120, 1056964608
  %t122 = icmp ult i32 %t112, 947912704
  %t123 = select i1 %t122, i32 %t121, i32 %t117
  %t124 = icmp uge i32 %t112, 1199566848
  %t125 = select i1 %t124, i32 31744, i32 %t123
  %t126 = and i32 %t113, 511
  %t127 = or i32 %t126, 32256
  %t128 = icmp ugt i32 %t112, 2139095040
  %t129 = select i1 %t128, i32 %t127, i32 %t125
  %t130 = or i32 %t129, %t111
  %t131 = trunc i32 %t130 to i16
  %t132 = zext i16 %t102 to i32
  %t133 = and i32 %t132, 32768
  %t134 = shl i32 %t133, 16
  %t135 = and i32 %t132, 32767
  %t136 = shl i32 %t135, 13
  %t137 = add i32 %t136, 939524096
  %t138 = or i32 %t136, 2139095040
  %t139 = icmp uge i32 %t135, 31744
  %t140 = select i1 %t139, i32 %t138, i32 %t137
  %t141 = uitofp i32 %t135 to float
  %t142 = fmul float %t141, 0x3E70000000000000
  %t143 = bitcast float %t142 to i32
  %t144 = icmp ult i32 %t135, 1024
  %t145 = select i1 %t144, i32 %t143, i32 %t140
  %t146 = or i32 %t145, %t134
  %t147 = bitcast i32 %t146 to float
  %t148 = zext i16 %t131 to i32
  %t149 = and i32 %t148, 32768
  %t150 = shl i32 %t149, 16
  %t151 = and i32 %t148, 32767
  %t152 = shl i32 %t151, 13
  %t153 = add i32 %t152, 939524096
  %t154 = or i32 %t152, 2139095040
  %t155 = icmp uge i32 %t151, 31744
  %t156 = select i1 %t155, i32 %t154, i32 %t153
  %t157 = uitofp i32 %t151 to float
  %t158 = fmul float %t157, 0x3E70000000000000
  %t159 = bitcast float %t158 to i32
  %t160 = icmp ult i32 %t151, 1024
  %t161 = select i1 %t160, i32 %t159, i32 %t156
  %t162 = or i32 %t161, %t150
  %t163 = bitcast i32 %t162 to float
  %t164 = fadd contract float %t147, %t163
  %t165 = bitcast float %t164 to i32
  %t166 = lshr i32 %t165, 16
  %t167 = and i32 %t166, 32768
  %t168 = and i32 %t165, 2147483647
  %t169 = lshr i32 %t168, 13
  %t170 = and i32 %t169, 1
  %t171 = add i32 %t170, 3355447295
  %t172 = add i32 %t168, %t171
  %t173 = lshr i32 %t172, 13
  %t174 = bitcast i32 %t168 to float
  %t175 = fadd float %t174, 0x3FE0000000000000
  %t176 = bitcast float %t175 to i32
  %t177 = sub i32 %t176, 1056964608
  %t178 = icmp ult i32 %t168, 947912704
  %t179 = select i1 %t178, i32 %t177, i32 %t173
  %t180 = icmp uge i32 %t168, 1199566848
  %t181 = select i1 %t180, i32 31744, i32 %t179
  %t182 = and i32 %t169, 511
  %t183 = or i32 %t182, 32256
  %t184 = icmp ugt i32 %t168, 2139095040
  %t185 = select i1 %t184, i32 %t183, i32 %t181
  %t186 = or i32 %t185, %t167
  %t187 = trunc i32 %t186 to i16
  %t188 = sext i32 %t7 to i64
  %t189 = getelementptr inbounds i16, ptr %p2, i64 %t188
  store i16 %t187, ptr %t189, align 2
  br label %next5
next5:
  %t5 = add nuw nsw i32 %t4, 1
  %t190 = icmp eq i32 %t5, %p3
  br i1 %t190, label %done6, label %loop4
done6:
  br label %next2
next2:
  %t2 = add nuw nsw i32 %t1, 1
  %t191 = icmp eq i32 %t2, 8
  br i1 %t191, label %done3, label %loop1
done3:
  ret i32 0
}

declare i32 @llvm.smax.i32(i32, i32)
declare i32 @llvm.smin.i32(i32, i32)

attributes #0 = { nounwind "target-cpu"="x86-64-v3" }
