target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

@__chipdock_env = global ptr null, align 8
@cd.ffi_raise = private unnamed_addr constant [29 x i8] c"TVMFFIErrorSetRaisedFromCStr\00"
@cd.no_memory = private unnamed_addr constant [32 x i8] c"no memory left to word an error\00"
@cd.table.1 = private unnamed_addr constant [1542 x i64] [i64 196612, i64 3, i64 844433520328714, i64 0, i64 17180196874, i64 0, i64 21474836482, i64 96, i64 8590327812, i64 0, i64 25769803777, i64 0, i64 4295163914, i64 0, i64 12885164042, i64 0, i64 17180196874, i64 0, i64 21474836482, i64 176, i64 1, i64 149, i64 4295229443, i64 0, i64 17180196872, i64 32, i64 21475229705, i64 32, i64 25770000388, i64 0, i64 262148, i64 7, i64 1125912792072202, i64 0, i64 393220, i64 70, i64 1688862745624586, i64 0, i64 1970346312335366, i64 0, i64 1970346312400903, i64 0, i64 2533309150789639, i64 0, i64 42950393866, i64 0, i64 47244640258, i64 448, i64 786436, i64 0, i64 51542622212, i64 0, i64 12887982084, i64 0, i64 2, i64 9888, i64 4295229443, i64 8, i64 17180196874, i64 0, i64 21475229706, i64 0, i64 25770262538, i64 0, i64 30064771074, i64 544, i64 1, i64 316, i64 4295294979, i64 8, i64 458756, i64 70, i64 1970337722400778, i64 0, i64 34359738370, i64 656, i64 589828, i64 24, i64 38655098884, i64 0, i64 2, i64 688, i64 655364, i64 0, i64 42950066180, i64 0, i64 1688871335821316, i64 0, i64 47244902404, i64 0, i64 4295360515, i64 16, i64 25770262536, i64 32, i64 30065295369, i64 32, i64 34360066052, i64 0, i64 393220, i64 7, i64 1688871335559178, i64 0, i64 524292, i64 70, i64 2251821289111562, i64 0, i64 2533304855822342, i64 0, i64 2533304855887879, i64 0, i64 3096267694276615, i64 0, i64 51540459530, i64 0, i64 55834574850, i64 992, i64 917508, i64 1, i64 60132556804, i64 0, i64 21477916676, i64 0, i64 2, i64 9888, i64 4295360515, i64 24, i64 25770262538, i64 0, i64 30065295370, i64 0, i64 34360328202, i64 0, i64 38654705666, i64 1088, i64 1, i64 505, i64 4295426051, i64 24, i64 589828, i64 70, i64 2533296265887754, i64 0, i64 42949672962, i64 1200, i64 720900, i64 24, i64 47245164548, i64 0, i64 2, i64 1232, i64 786436, i64 0, i64 51540131844, i64 0, i64 2251829879308292, i64 0, i64 55834968068, i64 0, i64 4295491587, i64 32, i64 34360328200, i64 32, i64 38655361033, i64 32, i64 42950131716, i64 0, i64 524292, i64 3, i64 2251829879046154, i64 0, i64 655364, i64 1, i64 2814779832598538, i64 0, i64 3096263399309318, i64 0, i64 3096263399374855, i64 0, i64 3659226237763591, i64 0, i64 983044, i64 2, i64 4222154716479498, i64 0, i64 4503659758026758, i64 0, i64 4503659758092295, i64 0, i64 5066622596481031, i64 0, i64 81605689354, i64 0, i64 85899345922, i64 1616, i64 1376260, i64 2, i64 90197786628, i64 0, i64 30068310020, i64 0, i64 2, i64 11168, i64 17180393475, i64 16, i64 34360328200, i64 32, i64 38655361033, i64 32, i64 720900, i64 2, i64 3096267694276618, i64 0, i64 51540459530, i64 0, i64 55834574850, i64 1808, i64 17180786691, i64 16, i64 60130525192, i64 32, i64 64425558025, i64 32, i64 68720590852, i64 0, i64 73014444033, i64 694, i64 17180524547, i64 20, i64 720900, i64 255, i64 3096267694276614, i64 0, i64 851972, i64 2, i64 3659226237763594, i64 0, i64 60130131972, i64 0, i64 38654705666, i64 2016, i64 17180852227, i64 21, i64 1048580, i64 255, i64 4503664052994054, i64 0, i64 1179652, i64 16, i64 5066622596481034, i64 0, i64 81604968452, i64 0, i64 38655229956, i64 0, i64 34359738370, i64 2144, i64 17181179907, i64 22, i64 1376260, i64 65535, i64 5911060411711494, i64 0, i64 1507332, i64 1, i64 6474018955198474, i64 0, i64 103079739396, i64 0, i64 34361376778, i64 0, i64 107374182402, i64 4048, i64 17181638659, i64 20, i64 1835012, i64 255, i64 7881415313915910, i64 0, i64 1966084, i64 0, i64 8444373857402890, i64 0, i64 133145690116, i64 0, i64 111669149698, i64 2384, i64 17181966339, i64 22, i64 2162692, i64 65535, i64 9288811672633350, i64 0, i64 2293764, i64 1, i64 9851770216120330, i64 0, i64 154620526596, i64 0, i64 111671574538, i64 0, i64 158916280330, i64 0, i64 163208757250, i64 2512, i64 17182425091, i64 21, i64 2621444, i64 255, i64 11259166574837766, i64 0, i64 176096411652, i64 0, i64 180388626433, i64 868, i64 17181638659, i64 20, i64 1835012, i64 255, i64 7881415313915910, i64 0, i64 1966084, i64 1, i64 8444373857402890, i64 0, i64 133145690116, i64 0, i64 111669149698, i64 2720, i64 17181966339, i64 22, i64 2162692, i64 65535, i64 9288811672633350, i64 0, i64 2293764, i64 1, i64 9851770216120330, i64 0, i64 154620526596, i64 0, i64 111671574538, i64 0, i64 158916280330, i64 0, i64 163208757250, i64 2848, i64 17182425091, i64 21, i64 2621444, i64 255, i64 11259166574837766, i64 0, i64 176096411652, i64 0, i64 180388626433, i64 1051, i64 17181638659, i64 20, i64 1835012, i64 255, i64 7881415313915910, i64 0, i64 1966084, i64 2, i64 8444373857402890, i64 0, i64 133145690116, i64 0, i64 111669149698, i64 3056, i64 17181966339, i64 22, i64 2162692, i64 65535, i64 9288811672633350, i64 0, i64 2293764, i64 1, i64 9851770216120330, i64 0, i64 154620526596, i64 0, i64 111671574538, i64 0, i64 158916280330, i64 0, i64 163208757250, i64 3184, i64 17182425091, i64 21, i64 2621444, i64 255, i64 11259166574837766, i64 0, i64 176096411652, i64 0, i64 180388626433, i64 1235, i64 17181638659, i64 20, i64 1835012, i64 255, i64 7881415313915910, i64 0, i64 1966084, i64 4, i64 8444373857402890, i64 0, i64 133145690116, i64 0, i64 111669149698, i64 3392, i64 17181966339, i64 22, i64 2162692, i64 65535, i64 9288811672633350, i64 0, i64 2293764, i64 1, i64 9851770216120330, i64 0, i64 154620526596, i64 0, i64 111671574538, i64 0, i64 158916280330, i64 0, i64 163208757250, i64 3520, i64 17182425091, i64 21, i64 2621444, i64 255, i64 11259166574837766, i64 0, i64 176096411652, i64 0, i64 180388626433, i64 1420, i64 17181638659, i64 20, i64 1835012, i64 255, i64 7881415313915910, i64 0, i64 1966084, i64 6, i64 8444373857402890, i64 0, i64 133145690116, i64 0, i64 111669149698, i64 3728, i64 17181966339, i64 22, i64 2162692, i64 65535, i64 9288811672633350, i64 0, i64 2293764, i64 1, i64 9851770216120330, i64 0, i64 154620526596, i64 0, i64 111671574538, i64 0, i64 158916280330, i64 0, i64 163208757250, i64 3792, i64 1, i64 1606, i64 1703940, i64 0, i64 111670919178, i64 0, i64 115964116994, i64 4048, i64 17181704195, i64 20, i64 1900548, i64 255, i64 8162894585659398, i64 0, i64 17181900803, i64 21, i64 2097156, i64 255, i64 9007332400889862, i64 0, i64 17182097411, i64 22, i64 2293764, i64 65535, i64 9851770216120326, i64 0, i64 128851443716, i64 0, i64 141736411140, i64 0, i64 154621378564, i64 0, i64 158913789953, i64 1789, i64 17180393475, i64 8, i64 34360328200, i64 32, i64 38655361033, i64 32, i64 720900, i64 1, i64 3096267694276618, i64 0, i64 51540459530, i64 0, i64 55834574850, i64 4240, i64 17180786691, i64 8, i64 60130525192, i64 32, i64 64425558025, i64 32, i64 68720590852, i64 0, i64 73014444033, i64 2002, i64 17180459011, i64 24, i64 38655229956, i64 0, i64 17180524547, i64 32, i64 42950262788, i64 0, i64 17180590083, i64 0, i64 17180655619, i64 40, i64 3377746966020100, i64 0, i64 55835230212, i64 0, i64 34360459274, i64 0, i64 47245426698, i64 0, i64 51540459530, i64 0, i64 55834574850, i64 4448, i64 1, i64 2213, i64 25770524675, i64 16, i64 47245426696, i64 32, i64 51540459529, i64 32, i64 917508, i64 1, i64 3940705509507082, i64 0, i64 64425558026, i64 0, i64 68719476738, i64 4640, i64 25770917891, i64 16, i64 73015623688, i64 32, i64 77310656521, i64 32, i64 81605689348, i64 0, i64 85899345921, i64 2409, i64 25770655747, i64 20, i64 917508, i64 255, i64 3940705509507078, i64 0, i64 1048580, i64 6, i64 4503664052994058, i64 0, i64 73015230468, i64 0, i64 51539607554, i64 4848, i64 25770983427, i64 21, i64 1245188, i64 255, i64 5348101868224518, i64 0, i64 1376260, i64 8, i64 5911060411711498, i64 0, i64 94490066948, i64 0, i64 51540328452, i64 0, i64 47244640258, i64 4976, i64 25771311107, i64 22, i64 1572868, i64 65535, i64 6755498226941958, i64 0, i64 1703940, i64 1, i64 7318456770428938, i64 0, i64 115964837892, i64 0, i64 47246475274, i64 0, i64 120259084290, i64 6880, i64 25771769859, i64 20, i64 2031620, i64 255, i64 8725853129146374, i64 0, i64 2162692, i64 0, i64 9288811672633354, i64 0, i64 146030788612, i64 0, i64 124554051586, i64 5216, i64 25772097539, i64 22, i64 2359300, i64 65535, i64 10133249487863814, i64 0, i64 2490372, i64 1, i64 10696208031350794, i64 0, i64 167505625092, i64 0, i64 124556673034, i64 0, i64 171801378826, i64 0, i64 176093659138, i64 5344, i64 25772556291, i64 21, i64 2818052, i64 255, i64 12103604390068230, i64 0, i64 188981510148, i64 0, i64 193273528321, i64 2583, i64 25771769859, i64 20, i64 2031620, i64 255, i64 8725853129146374, i64 0, i64 2162692, i64 1, i64 9288811672633354, i64 0, i64 146030788612, i64 0, i64 124554051586, i64 5552, i64 25772097539, i64 22, i64 2359300, i64 65535, i64 10133249487863814, i64 0, i64 2490372, i64 1, i64 10696208031350794, i64 0, i64 167505625092, i64 0, i64 124556673034, i64 0, i64 171801378826, i64 0, i64 176093659138, i64 5680, i64 25772556291, i64 21, i64 2818052, i64 255, i64 12103604390068230, i64 0, i64 188981510148, i64 0, i64 193273528321, i64 2763, i64 25771769859, i64 20, i64 2031620, i64 255, i64 8725853129146374, i64 0, i64 2162692, i64 2, i64 9288811672633354, i64 0, i64 146030788612, i64 0, i64 124554051586, i64 5888, i64 25772097539, i64 22, i64 2359300, i64 65535, i64 10133249487863814, i64 0, i64 2490372, i64 1, i64 10696208031350794, i64 0, i64 167505625092, i64 0, i64 124556673034, i64 0, i64 171801378826, i64 0, i64 176093659138, i64 6016, i64 25772556291, i64 21, i64 2818052, i64 255, i64 12103604390068230, i64 0, i64 188981510148, i64 0, i64 193273528321, i64 2944, i64 25771769859, i64 20, i64 2031620, i64 255, i64 8725853129146374, i64 0, i64 2162692, i64 4, i64 9288811672633354, i64 0, i64 146030788612, i64 0, i64 124554051586, i64 6224, i64 25772097539, i64 22, i64 2359300, i64 65535, i64 10133249487863814, i64 0, i64 2490372, i64 1, i64 10696208031350794, i64 0, i64 167505625092, i64 0, i64 124556673034, i64 0, i64 171801378826, i64 0, i64 176093659138, i64 6352, i64 25772556291, i64 21, i64 2818052, i64 255, i64 12103604390068230, i64 0, i64 188981510148, i64 0, i64 193273528321, i64 3126, i64 25771769859, i64 20, i64 2031620, i64 255, i64 8725853129146374, i64 0, i64 2162692, i64 6, i64 9288811672633354, i64 0, i64 146030788612, i64 0, i64 124554051586, i64 6560, i64 25772097539, i64 22, i64 2359300, i64 65535, i64 10133249487863814, i64 0, i64 2490372, i64 1, i64 10696208031350794, i64 0, i64 167505625092, i64 0, i64 124556673034, i64 0, i64 171801378826, i64 0, i64 176093659138, i64 6624, i64 1, i64 3309, i64 1900548, i64 0, i64 124556017674, i64 0, i64 128849018882, i64 6880, i64 25771835395, i64 20, i64 2097156, i64 255, i64 9007332400889862, i64 0, i64 25772032003, i64 21, i64 2293764, i64 255, i64 9851770216120326, i64 0, i64 25772228611, i64 22, i64 2490372, i64 65535, i64 10696208031350790, i64 0, i64 141736542212, i64 0, i64 154621509636, i64 0, i64 167506477060, i64 0, i64 171798691841, i64 3489, i64 25770524675, i64 8, i64 47245426696, i64 32, i64 51540459529, i64 32, i64 917508, i64 1, i64 3940705509507082, i64 0, i64 64425558026, i64 0, i64 68719476738, i64 7072, i64 25770917891, i64 8, i64 73015623688, i64 32, i64 77310656521, i64 32, i64 81605689348, i64 0, i64 85899345921, i64 3699, i64 25770590211, i64 24, i64 51540328452, i64 0, i64 25770655747, i64 32, i64 55835361284, i64 0, i64 25770721283, i64 0, i64 25770786819, i64 40, i64 4222184781250564, i64 0, i64 68720328708, i64 0, i64 47245557770, i64 0, i64 60130525194, i64 0, i64 64425558026, i64 0, i64 68719476738, i64 7280, i64 1, i64 3910, i64 34360655875, i64 8, i64 983044, i64 12, i64 4222184781250570, i64 0, i64 68720590858, i64 0, i64 73014444034, i64 7408, i64 34360918019, i64 8, i64 77310656516, i64 0, i64 81604378625, i64 4106, i64 34360655875, i64 0, i64 983044, i64 2147483647, i64 3940714099507212, i64 0, i64 68720590858, i64 0, i64 73015623690, i64 0, i64 77309411330, i64 7552, i64 34360983555, i64 0, i64 81605689348, i64 0, i64 85899345921, i64 4282, i64 34360721411, i64 0, i64 64425558024, i64 32, i64 68720590857, i64 32, i64 73015361540, i64 0, i64 38655754250, i64 0, i64 68720590858, i64 0, i64 73015427076, i64 0, i64 64424509442, i64 7760, i64 34360918019, i64 0, i64 1245188, i64 0, i64 5348101868224522, i64 0, i64 85900722186, i64 0, i64 90195296260, i64 0, i64 64424509442, i64 8320, i64 34361245699, i64 0, i64 1572868, i64 2, i64 6755498226941963, i64 0, i64 107375624196, i64 0, i64 94490984458, i64 0, i64 111669149698, i64 7936, i64 38656475139, i64 0, i64 1835012, i64 12, i64 7881415313915914, i64 0, i64 124555493380, i64 0, i64 94491246602, i64 0, i64 128849018882, i64 8048, i64 2031620, i64 12, i64 38656802819, i64 0, i64 133146148868, i64 0, i64 137441181700, i64 0, i64 141733920769, i64 4490, i64 34361245699, i64 8, i64 1572868, i64 2, i64 6755498226941963, i64 0, i64 107375624196, i64 0, i64 94490984458, i64 0, i64 111669149698, i64 8208, i64 38656475139, i64 8, i64 1835012, i64 1, i64 7881415313915914, i64 0, i64 124555493380, i64 0, i64 94491246602, i64 0, i64 128849018882, i64 8320, i64 2031620, i64 1, i64 38656802819, i64 8, i64 133146148868, i64 0, i64 137441181700, i64 0, i64 141733920769, i64 4711, i64 34360786947, i64 0, i64 1114116, i64 0, i64 4785143324737546, i64 0, i64 77310394372, i64 0, i64 64425754634, i64 0, i64 81604378626, i64 8480, i64 17181179907, i64 0, i64 85900722186, i64 0, i64 90195755018, i64 0, i64 94490263556, i64 0, i64 64426016778, i64 0, i64 98784247810, i64 8528, i64 1, i64 4932, i64 34360786947, i64 0, i64 1114116, i64 0, i64 4785143324737546, i64 0, i64 77310394372, i64 0, i64 64425754634, i64 0, i64 81604378626, i64 8704, i64 1310724, i64 1, i64 5629542485262342, i64 0, i64 1441796, i64 0, i64 6192539683454986, i64 0, i64 98785230852, i64 0, i64 64426082314, i64 0, i64 103079215106, i64 8800, i64 1638404, i64 1, i64 7036917369143302, i64 0, i64 111670919172, i64 0, i64 115964116993, i64 5120, i64 47245623299, i64 0, i64 3940714099507210, i64 0, i64 68720590858, i64 0, i64 73014444034, i64 8928, i64 47245819907, i64 0, i64 60130787332, i64 0, i64 77310722052, i64 0, i64 81604378625, i64 5364, i64 51540656138, i64 0, i64 68720590858, i64 0, i64 73015427076, i64 0, i64 64424509442, i64 9072, i64 47245819907, i64 0, i64 1245188, i64 0, i64 5348101868224522, i64 0, i64 85900722186, i64 0, i64 90195296260, i64 0, i64 64424509442, i64 9360, i64 47246147587, i64 0, i64 1572868, i64 2, i64 6755498226941963, i64 0, i64 107375624196, i64 0, i64 94490984458, i64 0, i64 111669149698, i64 9248, i64 51541377027, i64 0, i64 1835012, i64 1, i64 7881415313915914, i64 0, i64 124555493380, i64 0, i64 94491246602, i64 0, i64 128849018882, i64 9360, i64 2031620, i64 1, i64 51541704707, i64 0, i64 133146148868, i64 0, i64 137441181700, i64 0, i64 141733920769, i64 5564, i64 25770786819, i64 12, i64 64425558024, i64 32, i64 68720590857, i64 32, i64 17181048835, i64 12, i64 77310656520, i64 32, i64 81605689353, i64 32, i64 5629572550033418, i64 0, i64 90195755018, i64 0, i64 94489280514, i64 9648, i64 17181376515, i64 12, i64 98785820680, i64 32, i64 103080853513, i64 32, i64 25771507715, i64 12, i64 111670919176, i64 32, i64 115965952009, i64 32, i64 107376082948, i64 0, i64 120261050372, i64 0, i64 124554051585, i64 5785, i64 47245688835, i64 0, i64 1114116, i64 0, i64 4785143324737546, i64 0, i64 77310394372, i64 0, i64 64425754634, i64 0, i64 81604378626, i64 9808, i64 25771114499, i64 0, i64 85900722186, i64 0, i64 90195755018, i64 0, i64 94490263556, i64 0, i64 64426016778, i64 0, i64 98784247810, i64 9856, i64 1, i64 5987, i64 983044, i64 1099511627776, i64 64424509440, i64 0, i64 3145732, i64 0, i64 13511000748785674, i64 0, i64 210456674314, i64 0, i64 214751707146, i64 0, i64 219043332098, i64 10000, i64 197571903492, i64 0, i64 223338299393, i64 6175, i64 3145732, i64 1, i64 13511000748785674, i64 0, i64 210456674314, i64 0, i64 214751707146, i64 0, i64 219043332098, i64 10112, i64 197571903492, i64 0, i64 223338299393, i64 6354, i64 3145732, i64 2, i64 13511000748785674, i64 0, i64 210456674314, i64 0, i64 214751707146, i64 0, i64 219043332098, i64 10224, i64 197571903492, i64 0, i64 223338299393, i64 6532, i64 3145732, i64 3, i64 13511000748785674, i64 0, i64 210456674314, i64 0, i64 214751707146, i64 0, i64 219043332098, i64 10336, i64 197571903492, i64 0, i64 223338299393, i64 6711, i64 3145732, i64 4, i64 13511000748785674, i64 0, i64 210456674314, i64 0, i64 214751707146, i64 0, i64 219043332098, i64 10448, i64 197571903492, i64 0, i64 223338299393, i64 6891, i64 3145732, i64 8, i64 13511000748785674, i64 0, i64 210456674314, i64 0, i64 214751707146, i64 0, i64 219043332098, i64 10560, i64 197571903492, i64 0, i64 223338299393, i64 7075, i64 3145732, i64 11, i64 13511000748785674, i64 0, i64 210456674314, i64 0, i64 214751707146, i64 0, i64 219043332098, i64 10672, i64 197571903492, i64 0, i64 223338299393, i64 7075, i64 3145732, i64 65, i64 13511000748785674, i64 0, i64 210456674314, i64 0, i64 214751707146, i64 0, i64 219043332098, i64 10784, i64 197571903492, i64 0, i64 223338299393, i64 7075, i64 3145732, i64 68, i64 13511000748785674, i64 0, i64 210456674314, i64 0, i64 214751707146, i64 0, i64 219043332098, i64 10896, i64 197571903492, i64 0, i64 223338299393, i64 7253, i64 3145732, i64 71, i64 13511000748785674, i64 0, i64 210456674314, i64 0, i64 214751707146, i64 0, i64 219043332098, i64 11008, i64 197571903492, i64 0, i64 223338299393, i64 7438, i64 3145732, i64 0, i64 206161641482, i64 0, i64 210453397506, i64 11104, i64 197571772420, i64 0, i64 201866805252, i64 0, i64 214748364801, i64 7621, i64 3145732, i64 -1, i64 206158430208, i64 0, i64 3145732, i64 -1, i64 206158430208, i64 0, i64 3604484, i64 0, i64 15481355650990090, i64 0, i64 240521904138, i64 0, i64 244816936970, i64 0, i64 249108103170, i64 11280, i64 227637133316, i64 0, i64 253403070465, i64 7821, i64 3604484, i64 4, i64 15481355650990090, i64 0, i64 240521904138, i64 0, i64 244816936970, i64 0, i64 249108103170, i64 11392, i64 227637133316, i64 0, i64 253403070465, i64 7999, i64 3604484, i64 7, i64 15481355650990090, i64 0, i64 240521904138, i64 0, i64 244816936970, i64 0, i64 249108103170, i64 11504, i64 227637133316, i64 0, i64 253403070465, i64 8182, i64 3604484, i64 8, i64 15481355650990090, i64 0, i64 240521904138, i64 0, i64 244816936970, i64 0, i64 249108103170, i64 11616, i64 227637133316, i64 0, i64 253403070465, i64 8362, i64 3604484, i64 11, i64 15481355650990090, i64 0, i64 240521904138, i64 0, i64 244816936970, i64 0, i64 249108103170, i64 11728, i64 227637133316, i64 0, i64 253403070465, i64 8362, i64 3604484, i64 65, i64 15481355650990090, i64 0, i64 240521904138, i64 0, i64 244816936970, i64 0, i64 249108103170, i64 11840, i64 227637133316, i64 0, i64 253403070465, i64 8362, i64 3604484, i64 68, i64 15481355650990090, i64 0, i64 240521904138, i64 0, i64 244816936970, i64 0, i64 249108103170, i64 11952, i64 227637133316, i64 0, i64 253403070465, i64 8539, i64 3604484, i64 70, i64 15481355650990090, i64 0, i64 240521904138, i64 0, i64 244816936970, i64 0, i64 249108103170, i64 12064, i64 227637133316, i64 0, i64 253403070465, i64 8182, i64 3604484, i64 71, i64 15481355650990090, i64 0, i64 240521904138, i64 0, i64 244816936970, i64 0, i64 249108103170, i64 12176, i64 227637133316, i64 0, i64 253403070465, i64 8723, i64 3604484, i64 0, i64 236226871306, i64 0, i64 240518168578, i64 12272, i64 227637002244, i64 0, i64 231932035076, i64 0, i64 244813135873, i64 8905, i64 3604484, i64 -1, i64 236223201280, i64 0, i64 3604484, i64 -1, i64 236223201280, i64 0], align 8
@cd.texts.0 = private unnamed_addr constant [9105 x i8] c"Expected 3 arguments when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  but got \FF\00\0ATypeError\00rows_checked_\00args pointer is NULL when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected a non-NULL pointer\00\0ATypeError\00rows_checked_\00Mismatched type on argument #0 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected Tensor, but got a NULL pointer\00\0ATypeError\00rows_checked_\00Mismatched type on argument #1 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected Tensor, but got a NULL pointer\00\0ATypeError\00rows_checked_\00Mismatched A.ndim on argument #0 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected 2, but got \FF\00\0BValueError\00rows_checked_\00Mismatched A.dtype on argument #0 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected float16, but got int\FF\00\0ATypeError\00rows_checked_\00Mismatched A.dtype on argument #0 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected float16, but got uint\FF\00\0ATypeError\00rows_checked_\00Mismatched A.dtype on argument #0 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected float16, but got float\FF\00\0ATypeError\00rows_checked_\00Mismatched A.dtype on argument #0 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected float16, but got bfloat\FF\00\0ATypeError\00rows_checked_\00Mismatched A.dtype on argument #0 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected float16, but got bool\00\0ATypeError\00rows_checked_\00Mismatched A.dtype on argument #0 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected float16, but got dtype code \FF of \FF bits and \FF lanes\00\0ATypeError\00rows_checked_\00Mismatched A.device_type on argument #0 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected cpu (device type 1), but got device type \FF\00\0BValueError\00rows_checked_\00Mismatched A.shape on argument #0 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected 2 extents, but got a NULL pointer\00\0BValueError\00rows_checked_\00Mismatched B.ndim on argument #1 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected 1, but got \FF\00\0BValueError\00rows_checked_\00Mismatched B.dtype on argument #1 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected bool, but got int\FF\00\0ATypeError\00rows_checked_\00Mismatched B.dtype on argument #1 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected bool, but got uint\FF\00\0ATypeError\00rows_checked_\00Mismatched B.dtype on argument #1 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected bool, but got float\FF\00\0ATypeError\00rows_checked_\00Mismatched B.dtype on argument #1 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected bool, but got bfloat\FF\00\0ATypeError\00rows_checked_\00Mismatched B.dtype on argument #1 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected bool, but got bool\00\0ATypeError\00rows_checked_\00Mismatched B.dtype on argument #1 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected bool, but got dtype code \FF of \FF bits and \FF lanes\00\0ATypeError\00rows_checked_\00Mismatched B.device_type on argument #1 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected cpu (device type 1), but got device type \FF\00\0BValueError\00rows_checked_\00Mismatched B.shape on argument #1 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected 1 extents, but got a NULL pointer\00\0BValueError\00rows_checked_\00Invalid A.shape[1] on argument #0 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected 12, but got \FF\00\0BValueError\00rows_checked_\00Invalid A.shape[0] on argument #0 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected n between 0 and 2147483647 (int32), but got \FF\00\0BValueError\00rows_checked_\00Mismatched A.strides on argument #0 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected to be compact array, that is A.strides[0] = \FF, but got \FF\00\0BValueError\00rows_checked_\00Mismatched A.strides on argument #0 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected to be compact array, that is A.strides[1] = \FF, but got \FF\00\0BValueError\00rows_checked_\00A data pointer is NULL on argument #0 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected non-NULL data pointer\00\0BValueError\00rows_checked_\00Misaligned A.data on argument #0 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected data plus byte_offset to be a multiple of 2 bytes, but got one that is beyond by \FE\00\0BValueError\00rows_checked_\00Mismatched B.shape[0] on argument #1 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected to match A.shape[0] (\FF), but got \FF\00\0BValueError\00rows_checked_\00Mismatched B.strides on argument #1 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected to be compact array, that is B.strides[0] = \FF, but got \FF\00\0BValueError\00rows_checked_\00Mismatched B.device_id on argument #1 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected to match A.device_id (\FF), but got \FF\00\0BValueError\00rows_checked_\00B data pointer is NULL on argument #1 when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected non-NULL data pointer\00\0BValueError\00rows_checked_\00Mismatched type on argument #\FF when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected Tensor, but got None\00\0ATypeError\00rows_checked_\00Mismatched type on argument #\FF when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected Tensor, but got int\00\0ATypeError\00rows_checked_\00Mismatched type on argument #\FF when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected Tensor, but got bool\00\0ATypeError\00rows_checked_\00Mismatched type on argument #\FF when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected Tensor, but got float\00\0ATypeError\00rows_checked_\00Mismatched type on argument #\FF when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected Tensor, but got a pointer\00\0ATypeError\00rows_checked_\00Mismatched type on argument #\FF when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected Tensor, but got str\00\0ATypeError\00rows_checked_\00Mismatched type on argument #\FF when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected Tensor, but got a function\00\0ATypeError\00rows_checked_\00Mismatched type on argument #\FF when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected Tensor, but got an array\00\0ATypeError\00rows_checked_\00Mismatched type on argument #\FF when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected Tensor, but got a value with type index \FF\00\0ATypeError\00rows_checked_\00Mismatched type on argument #\FF when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected float, but got None\00\0ATypeError\00rows_checked_\00Mismatched type on argument #\FF when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected float, but got a pointer\00\0ATypeError\00rows_checked_\00Mismatched type on argument #\FF when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected float, but got Tensor\00\0ATypeError\00rows_checked_\00Mismatched type on argument #\FF when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected float, but got str\00\0ATypeError\00rows_checked_\00Mismatched type on argument #\FF when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected float, but got a function\00\0ATypeError\00rows_checked_\00Mismatched type on argument #\FF when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected float, but got an array\00\0ATypeError\00rows_checked_\00Mismatched type on argument #\FF when calling:\0A  `rows(A: Tensor([n, 12], float16), B: Tensor([n], bool), scale: float32)`,\0A  expected float, but got a value with type index \FF\00\0ATypeError\00rows_checked_\00\00"

define i32 @__tvm_ffi_rows(ptr noundef %p0, ptr noundef %p1, i32 noundef %p2, ptr noundef %p3) mustprogress #0 {
entry:
  br label %body
body:
  %t1 = icmp eq i32 %p2, 3
  %t2 = icmp eq ptr %p1, null
  %t3 = xor i1 %t2, true
  %t4 = and i1 %t1, %t3
  br i1 %t4, label %endif2, label %tail1, !prof !0
endif2:
  %t5 = load i32, ptr %p1, align 4
  %t6 = icmp eq i32 %t5, 70
  br i1 %t6, label %endif4, label %then3, !prof !0
then3:
  %t7 = icmp eq i32 %t5, 7
  br i1 %t7, label %endif5, label %tail1, !prof !0
endif5:
  br label %endif4
endif4:
  %t8 = getelementptr i8, ptr %p1, i64 8
  %t9 = load ptr, ptr %t8, align 8
  %t10 = icmp eq ptr %t9, null
  br i1 %t10, label %tail1, label %endif6, !prof !1
endif6:
  %t11 = getelementptr i8, ptr %p1, i64 8
  %t12 = load ptr, ptr %t11, align 8
  %t13 = icmp eq i32 %t5, 70
  %t14 = select i1 %t13, i64 24, i64 0
  %t15 = getelementptr i8, ptr %t12, i64 %t14
  %t16 = getelementptr i8, ptr %t15, i64 16
  %t17 = load i64, ptr %t16, align 1
  %t18 = xor i64 %t17, 299075752689666
  %t19 = getelementptr i8, ptr %t15, i64 8
  %t20 = load i64, ptr %t19, align 1
  %t21 = xor i64 %t20, 1
  %t22 = or i64 %t18, %t21
  %t23 = icmp eq i64 %t22, 0
  br i1 %t23, label %endif7, label %tail1, !prof !0
endif7:
  %t24 = getelementptr i8, ptr %t15, i64 24
  %t25 = load ptr, ptr %t24, align 8
  %t26 = getelementptr i8, ptr %t15, i64 32
  %t27 = load ptr, ptr %t26, align 8
  %t28 = load ptr, ptr %t15, align 8
  %t29 = icmp eq ptr %t28, null
  %t30 = xor i1 %t29, true
  %t31 = icmp eq ptr %t25, null
  %t32 = xor i1 %t31, true
  %t33 = and i1 %t30, %t32
  br i1 %t33, label %endif8, label %tail1, !prof !0
endif8:
  %t34 = load ptr, ptr %t15, align 8
  %t35 = getelementptr i8, ptr %t15, i64 40
  %t36 = load i64, ptr %t35, align 8
  %t37 = getelementptr i8, ptr %t34, i64 %t36
  %t38 = load i64, ptr %t25, align 8
  %t39 = trunc i64 %t38 to i32
  %t40 = load i64, ptr %t25, align 8
  %t41 = ashr i64 %t40, 31
  %t42 = getelementptr i8, ptr %t25, i64 8
  %t43 = load i64, ptr %t42, align 8
  %t44 = xor i64 %t43, 12
  %t45 = or i64 %t41, %t44
  %t46 = icmp eq i64 %t45, 0
  br i1 %t46, label %endif9, label %tail1, !prof !0
endif9:
  %t47 = icmp eq ptr %t27, null
  br i1 %t47, label %endif11, label %then10, !prof !0
then10:
  %t48 = load i64, ptr %t27, align 8
  %t49 = xor i64 %t48, 12
  %t50 = getelementptr i8, ptr %t27, i64 8
  %t51 = load i64, ptr %t50, align 8
  %t52 = xor i64 %t51, 1
  %t53 = or i64 %t49, %t52
  %t54 = icmp eq i64 %t53, 0
  br i1 %t54, label %endif12, label %tail1, !prof !0
endif12:
  br label %endif11
endif11:
  %t55 = getelementptr i8, ptr %p1, i64 16
  %t56 = load i32, ptr %t55, align 4
  %t57 = icmp eq i32 %t56, 70
  br i1 %t57, label %endif14, label %then13, !prof !0
then13:
  %t58 = icmp eq i32 %t56, 7
  br i1 %t58, label %endif15, label %tail1, !prof !0
endif15:
  br label %endif14
endif14:
  %t59 = getelementptr i8, ptr %p1, i64 24
  %t60 = load ptr, ptr %t59, align 8
  %t61 = icmp eq ptr %t60, null
  br i1 %t61, label %tail1, label %endif16, !prof !1
endif16:
  %t62 = getelementptr i8, ptr %p1, i64 24
  %t63 = load ptr, ptr %t62, align 8
  %t64 = icmp eq i32 %t56, 70
  %t65 = select i1 %t64, i64 24, i64 0
  %t66 = getelementptr i8, ptr %t63, i64 %t65
  %t67 = getelementptr i8, ptr %t66, i64 16
  %t68 = load i64, ptr %t67, align 1
  %t69 = xor i64 %t68, 290296839536641
  %t70 = getelementptr i8, ptr %t66, i64 8
  %t71 = load i64, ptr %t70, align 1
  %t72 = xor i64 %t71, 1
  %t73 = or i64 %t69, %t72
  %t74 = icmp eq i64 %t73, 0
  br i1 %t74, label %endif17, label %tail1, !prof !0
endif17:
  %t75 = getelementptr i8, ptr %t66, i64 24
  %t76 = load ptr, ptr %t75, align 8
  %t77 = getelementptr i8, ptr %t66, i64 32
  %t78 = load ptr, ptr %t77, align 8
  %t79 = load ptr, ptr %t66, align 8
  %t80 = icmp eq ptr %t79, null
  %t81 = xor i1 %t80, true
  %t82 = icmp eq ptr %t76, null
  %t83 = xor i1 %t82, true
  %t84 = and i1 %t81, %t83
  br i1 %t84, label %endif18, label %tail1, !prof !0
endif18:
  %t85 = load ptr, ptr %t66, align 8
  %t86 = getelementptr i8, ptr %t66, i64 40
  %t87 = load i64, ptr %t86, align 8
  %t88 = getelementptr i8, ptr %t85, i64 %t87
  %t89 = load i64, ptr %t76, align 8
  %t90 = sext i32 %t39 to i64
  %t91 = xor i64 %t89, %t90
  %t92 = icmp eq i64 %t91, 0
  br i1 %t92, label %endif19, label %tail1, !prof !0
endif19:
  %t93 = icmp eq ptr %t78, null
  br i1 %t93, label %endif21, label %then20, !prof !0
then20:
  %t94 = load i64, ptr %t78, align 8
  %t95 = xor i64 %t94, 1
  %t96 = icmp eq i64 %t95, 0
  br i1 %t96, label %endif22, label %tail1, !prof !0
endif22:
  br label %endif21
endif21:
  %t97 = getelementptr i8, ptr %p1, i64 32
  %t98 = load i32, ptr %t97, align 4
  %t99 = icmp eq i32 %t98, 3
  br i1 %t99, label %endif23, label %tail1, !prof !0
endif23:
  %t100 = getelementptr i8, ptr %p1, i64 40
  %t101 = load double, ptr %t100, align 8
  %t102 = fptrunc double %t101 to float
  %t103 = ptrtoint ptr %t37 to i64
  %t104 = and i64 %t103, 1
  %t105 = icmp eq i64 %t104, 0
  br i1 %t105, label %endif24, label %tail1, !prof !0
endif24:
  %t106 = call i32 @cd.f.rows_compute_(ptr %t37, ptr %t88, float %t102, i32 %t39)
  ret i32 %t106
tail1:
  %t107 = call i32 @cd.f.rows_checked_(ptr %p1, i32 %p2)
  ret i32 %t107
}

define internal i32 @cd.f.rows_checked_(ptr noundef %p0, i32 noundef %p1) cold noinline optnone #0 {
entry:
  %t1 = alloca [60 x i64], align 8
  br label %body
body:
  %t2 = getelementptr i64, ptr %t1, i64 1
  store ptr %p0, ptr %t2, align 8
  %t3 = sext i32 %p1 to i64
  %t4 = getelementptr i64, ptr %t1, i64 2
  store i64 %t3, ptr %t4, align 8
  store i64 0, ptr %t1, align 8
  %t5 = call i64 @cd.h.check(ptr @cd.table.1, ptr @cd.texts.0, ptr %t1)
  %t6 = icmp eq i64 %t5, 1099511627776
  br i1 %t6, label %fine1, label %out2
out2:
  %t7 = trunc i64 %t5 to i32
  ret i32 %t7
fine1:
  %t8 = getelementptr i64, ptr %t1, i64 7
  %t9 = load i64, ptr %t8, align 8
  %t10 = trunc i64 %t9 to i32
  %t11 = getelementptr i64, ptr %t1, i64 10
  %t12 = load ptr, ptr %t11, align 8
  %t13 = getelementptr i64, ptr %t1, i64 13
  %t14 = load ptr, ptr %t13, align 8
  %t15 = getelementptr i64, ptr %t1, i64 14
  %t16 = load i64, ptr %t15, align 8
  %t17 = trunc i64 %t16 to i32
  %t18 = icmp eq i32 %t10, 3
  br i1 %t18, label %then3, label %else4
then3:
  %t19 = getelementptr i8, ptr %p0, i64 40
  %t20 = load double, ptr %t19, align 8
  br label %end5
else4:
  %t21 = getelementptr i8, ptr %p0, i64 40
  %t22 = load i64, ptr %t21, align 8
  %t23 = sitofp i64 %t22 to double
  br label %end5
end5:
  %t24 = phi double [ %t20, %then3 ], [ %t23, %else4 ]
  %t25 = fptrunc double %t24 to float
  %t26 = call i32 @cd.f.rows_compute_(ptr %t12, ptr %t14, float %t25, i32 %t17)
  ret i32 %t26
}

define internal i32 @cd.f.rows_compute_(ptr noundef nocapture readonly align 2 %p0, ptr noundef nocapture align 1 %p1, float noundef %p2, i32 noundef %p3) mustprogress noinline #0 {
entry:
  br label %body
body:
  %t1 = icmp sgt i32 %p3, 0
  br i1 %t1, label %loop1, label %done3
loop1:
  %t2 = phi i32 [ 0, %body ], [ %t3, %next2 ]
  %t4 = sext i32 %t2 to i64
  %t5 = getelementptr inbounds i8, ptr %p1, i64 %t4
  %t6 = zext i1 false to i8
  store i8 %t6, ptr %t5, align 1
  br label %loop4
loop4:
  %t7 = phi i32 [ 0, %loop1 ], [ %t8, %next5 ]
  %t9 = sext i32 %t2 to i64
  %t10 = getelementptr inbounds i8, ptr %p1, i64 %t9
  %t11 = load i8, ptr %t10, align 1
  %t12 = icmp ne i8 %t11, 0
  br i1 %t12, label %end8, label %or7
or7:
  %t13 = mul nsw i64 %t9, 12
  %t14 = sext i32 %t7 to i64
  %t15 = add nsw i64 %t13, %t14
  %t16 = getelementptr inbounds i16, ptr %p0, i64 %t15
  %t17 = load i16, ptr %t16, align 2
  %t18 = zext i16 %t17 to i32
  %t19 = and i32 %t18, 32768
  %t20 = shl i32 %t19, 16
  %t21 = and i32 %t18, 32767
  %t22 = shl i32 %t21, 13
  %t23 = add i32 %t22, 939524096
  %t24 = or i32 %t22, 2139095040
  %t25 = icmp uge i32 %t21, 31744
  %t26 = select i1 %t25, i32 %t24, i32 %t23
  %t27 = uitofp i32 %t21 to float
  %t28 = fmul float %t27, 0x3E70000000000000
  %t29 = bitcast float %t28 to i32
  %t30 = icmp ult i32 %t21, 1024
  %t31 = select i1 %t30, i32 %t29, i32 %t26
  %t32 = or i32 %t31, %t20
  %t33 = bitcast i32 %t32 to float
  %t34 = fmul contract float %t33, %p2
  %t35 = fcmp ogt float %t34, 0x3FE0000000000000
  br label %end8
end8:
  %t36 = phi i1 [ true, %loop4 ], [ %t35, %or7 ]
  %t37 = getelementptr inbounds i8, ptr %p1, i64 %t9
  %t38 = zext i1 %t36 to i8
  store i8 %t38, ptr %t37, align 1
  br label %next5
next5:
  %t8 = add nuw nsw i32 %t7, 1
  %t39 = icmp eq i32 %t8, 12
  br i1 %t39, label %done6, label %loop4
done6:
  br label %next2
next2:
  %t3 = add nuw nsw i32 %t2, 1
  %t40 = icmp eq i32 %t3, %p3
  br i1 %t40, label %done3, label %loop1
done3:
  ret i32 0
}

define internal i64 @cd.h.check(ptr %table, ptr %texts, ptr %frame) cold noinline optnone #0 {
entry:
  %results = alloca [13 x i64], align 8
  br label %next
next:
  %at = phi ptr [ %table, %entry ], [ %to, %next ]
  %word = load i64, ptr %at, align 8
  %at.number = getelementptr i8, ptr %at, i64 8
  %number = load i64, ptr %at.number, align 8
  %following = getelementptr i8, ptr %at, i64 16
  %code = and i64 %word, 65535
  %d.high = lshr i64 %word, 16
  %d = and i64 %d.high, 65535
  %a.high = lshr i64 %word, 32
  %a = and i64 %a.high, 65535
  %b = lshr i64 %word, 48
  %at.a = getelementptr i64, ptr %frame, i64 %a
  %x = load i64, ptr %at.a, align 8
  %at.b = getelementptr i64, ptr %frame, i64 %b
  %y = load i64, ptr %at.b, align 8
  %is_load = icmp eq i64 %code, 3
  %pointer = inttoptr i64 %x to ptr
  %field = getelementptr i8, ptr %pointer, i64 %number
  %readable = select i1 %is_load, ptr %field, ptr %frame
  %r3 = load i64, ptr %readable, align 1
  %at.r3 = getelementptr i64, ptr %results, i64 3
  store i64 %r3, ptr %at.r3, align 8
  %sum = add i64 %x, %y
  %r4 = add i64 %sum, %number
  %at.r4 = getelementptr i64, ptr %results, i64 4
  store i64 %r4, ptr %at.r4, align 8
  %r5 = mul i64 %x, %y
  %at.r5 = getelementptr i64, ptr %results, i64 5
  store i64 %r5, ptr %at.r5, align 8
  %r6 = and i64 %x, %y
  %at.r6 = getelementptr i64, ptr %results, i64 6
  store i64 %r6, ptr %at.r6, align 8
  %r7 = xor i64 %x, %y
  %at.r7 = getelementptr i64, ptr %results, i64 7
  store i64 %r7, ptr %at.r7, align 8
  %by = and i64 %number, 63
  %r8 = shl i64 %x, %by
  %at.r8 = getelementptr i64, ptr %results, i64 8
  store i64 %r8, ptr %at.r8, align 8
  %r9 = ashr i64 %x, %by
  %at.r9 = getelementptr i64, ptr %results, i64 9
  store i64 %r9, ptr %at.r9, align 8
  %equal = icmp eq i64 %x, %y
  %r10 = zext i1 %equal to i64
  %at.r10 = getelementptr i64, ptr %results, i64 10
  store i64 %r10, ptr %at.r10, align 8
  %less = icmp slt i64 %x, %y
  %r11 = zext i1 %less to i64
  %at.r11 = getelementptr i64, ptr %results, i64 11
  store i64 %r11, ptr %at.r11, align 8
  %below = icmp ult i64 %x, %y
  %r12 = zext i1 %below to i64
  %at.r12 = getelementptr i64, ptr %results, i64 12
  store i64 %r12, ptr %at.r12, align 8
  %at.old = getelementptr i64, ptr %frame, i64 %d
  %old = load i64, ptr %at.old, align 8
  %at.r2 = getelementptr i64, ptr %results, i64 2
  store i64 %old, ptr %at.r2, align 8
  %at.result = getelementptr i64, ptr %results, i64 %code
  %result = load i64, ptr %at.result, align 8
  store i64 %result, ptr %at.old, align 8
  %target = getelementptr i8, ptr %table, i64 %number
  %is_jump = icmp eq i64 %code, 2
  %is_zero = icmp eq i64 %x, 0
  %jumps = and i1 %is_jump, %is_zero
  %to = select i1 %jumps, ptr %target, ptr %following
  %goes_on = icmp ugt i64 %code, 1
  br i1 %goes_on, label %next, label %ends
ends:
  %fails = icmp eq i64 %code, 1
  br i1 %fails, label %fail, label %return
return:
  ret i64 %x
fail:
  %text = getelementptr i8, ptr %texts, i64 %number
  %values = getelementptr i8, ptr %at.a, i64 0
  br label %measure
measure:
  %m = phi ptr [ %text, %fail ], [ %m.next, %measure ]
  %size = phi i64 [ 0, %fail ], [ %size.next, %measure ]
  %values.end = phi ptr [ %values, %fail ], [ %values.next, %measure ]
  %m.byte = load i8, ptr %m, align 1
  %m.next = getelementptr i8, ptr %m, i64 1
  %m.integer = icmp ugt i8 %m.byte, -3
  %m.values = select i1 %m.integer, i64 8, i64 0
  %values.next = getelementptr i8, ptr %values.end, i64 %m.values
  %m.size = select i1 %m.integer, i64 20, i64 1
  %size.next = add i64 %size, %m.size
  %m.ends = icmp eq i8 %m.byte, 0
  br i1 %m.ends, label %measured, label %measure
measured:
  %out = call ptr @malloc(i64 %size.next)
  %none = icmp eq ptr %out, null
  br i1 %none, label %raise, label %begin
begin:
  %out.last = getelementptr i8, ptr %out, i64 %size
  store i8 0, ptr %out.last, align 1
  br label %compose
compose:
  %s = phi ptr [ %m, %begin ], [ %s.less, %plain ], [ %s.less, %sign ]
  %o = phi ptr [ %out.last, %begin ], [ %o.plain, %plain ], [ %o.sign, %sign ]
  %v = phi ptr [ %values.end, %begin ], [ %v, %plain ], [ %v.less, %sign ]
  %is_done = icmp eq ptr %s, %text
  br i1 %is_done, label %raise, label %byte
byte:
  %s.less = getelementptr i8, ptr %s, i64 -1
  %byte.value = load i8, ptr %s.less, align 1
  %is_integer = icmp ugt i8 %byte.value, -3
  br i1 %is_integer, label %integer, label %plain
plain:
  %o.plain = getelementptr i8, ptr %o, i64 -1
  store i8 %byte.value, ptr %o.plain, align 1
  br label %compose
integer:
  %v.less = getelementptr i8, ptr %v, i64 -8
  %integer.value = load i64, ptr %v.less, align 8
  %is_signed = icmp eq i8 %byte.value, -1
  %is_below = icmp slt i64 %integer.value, 0
  %is_negative = and i1 %is_signed, %is_below
  %minus = sub i64 0, %integer.value
  %magnitude = select i1 %is_negative, i64 %minus, i64 %integer.value
  br label %digits
digits:
  %d.rest = phi i64 [ %magnitude, %integer ], [ %d.less, %digits ]
  %d.end = phi ptr [ %o, %integer ], [ %d.at, %digits ]
  %d.at = getelementptr i8, ptr %d.end, i64 -1
  %d.less = udiv i64 %d.rest, 10
  %d.tens = mul i64 %d.less, 10
  %d.digit = sub i64 %d.rest, %d.tens
  %d.small = trunc i64 %d.digit to i8
  %d.char = add i8 %d.small, 48
  store i8 %d.char, ptr %d.at, align 1
  %d.ends = icmp eq i64 %d.less, 0
  br i1 %d.ends, label %sign, label %digits
sign:
  %o.minus = getelementptr i8, ptr %d.at, i64 -1
  %o.sign = select i1 %is_negative, ptr %o.minus, ptr %d.at
  %first = select i1 %is_negative, i8 45, i8 %d.char
  store i8 %first, ptr %o.sign, align 1
  br label %compose
raise:
  %message = phi ptr [ @cd.no_memory, %measured ], [ %o, %compose ]
  %kind = getelementptr i8, ptr %m.next, i64 1
  %kind.byte = load i8, ptr %m.next, align 1
  %kind.size = zext i8 %kind.byte to i64
  %location = getelementptr i8, ptr %kind, i64 %kind.size
  %env = load ptr, ptr @__chipdock_env, align 8
  %alone = icmp eq ptr %env, null
  br i1 %alone, label %find, label %host
host:
  %env.raise = getelementptr i8, ptr %env, i64 16
  %do.raise = load ptr, ptr %env.raise, align 8
  call void %do.raise(ptr %env, ptr %kind, ptr %message, ptr %location)
  br label %raised
find:
  %found = call ptr @dlsym(ptr null, ptr @cd.ffi_raise)
  %missing = icmp eq ptr %found, null
  br i1 %missing, label %raised, label %ffi
ffi:
  call void %found(ptr %kind, ptr %message)
  br label %raised
raised:
  call void @free(ptr %out)
  ret i64 -1
}

declare ptr @dlsym(ptr, ptr)
declare void @free(ptr)
declare ptr @malloc(i64)

attributes #0 = { nounwind "target-cpu"="x86-64-v3" }
!0 = !{!"branch_weights", i32 1, i32 2000}
!1 = !{!"branch_weights", i32 2000, i32 1}
