# What gcc's Objective-C lacks, as the messages that clang makes from it. Only the forms that the tests have.
s/@\[ *\]/[NSArray array]/g
s/@\[ *([^]]+[^] ]) *\]/[NSArray arrayWithObjects:\1, nil]/g
s/@\{\}/[NSDictionary dictionary]/g
s/@\{("[^"]*"|@"[^"]*") : ([^{},]+)\}/[NSDictionary dictionaryWithObject:(\2) forKey:\1]/g
s/([ (*:])@([0-9]+)/\1[NSNumber numberWithInt:\2]/g
s/\[MPinMFA listUsers\]\[0\]/[[MPinMFA listUsers] objectAtIndex:0]/g
s/(arrUsers|usersList)\[([0-9a-z]+)\]/[\1 objectAtIndex:\2]/g
s/(jsonObject|config)\[(@"[^"]*")\]/[\1 objectForKey:\2]/g
