/** Passwords that attackers try first, in lower case, from published lists of leaked passwords. */
export const COMMON_PASSWORDS: ReadonlySet<string> = new Set(
  `
  123456 1234567 12345678 123456789 1234567890 12345678910 123123 123123123 123321 112233 121212 111111
  11111111 000000 00000000 222222 333333 444444 555555 666666 777777 888888 88888888 999999 654321 87654321
  987654321 159753 147258 147258369 159357 123654 123qwe 1q2w3e 1q2w3e4r 1q2w3e4r5t 1qaz2wsx 1qazxsw2
  q1w2e3r4 qwerty qwerty1 qwerty12 qwerty123 qwertyui qwertyuiop qwer1234 asdfgh asdfghjk asdfghjkl
  asdf1234 zxcvbn zxcvbnm zaq12wsx azerty password password1 password12 password123 passw0rd p@ssw0rd
  p@ssword pass123 pass1234 passwort passwort1 motdepasse contrasena letmein letmein1 welcome welcome1
  welcome123 admin1 admin123 administrator changeme changeme1 secret secret1 secret123 iloveyou iloveyou1
  monkey dragon dragon1 sunshine princess princess1 football football1 baseball basketball superman batman
  master shadow michael jordan jordan23 jessica ashley daniel charlie andrew thomas robert hannah nicole
  joshua matthew killer trustno1 starwars pokemon computer internet samsung google whatever freedom nothing
  hello123 hello1 hallo123 hallo1 abc123 abcd1234 abcdef abcdefg abcdefgh abc12345 a123456 a1b2c3 a1b2c3d4
  aa123456 aaaaaa test123 test1234 testing guest123 default user123 root123 toor123 login123 access summer
  winter spring autumn summer2024 summer2025 summer2026 winter2024 winter2025 winter2026 january monday
  london berlin lovely loveme flower cookie cheese chocolate ginger pepper summer1 soccer hockey liverpool
  arsenal chelsea mustang ferrari corvette harley yamaha maverick ranger hunter buster tigger jennifer
  michelle babygirl angel1 angels qazwsx qazwsxedc 1234qwer qwe123 qweasd qweasdzxc zxc123 asd123 159951
  131313 232323 101010 202020 010203 696969 789456 789456123 456789 5201314 woaini 147852 258456 741852963
  963852741
  `
    .trim()
    .split(/\s+/),
);
