/** Tests every notation of a private address, beside public ones. */
import t from 'tap';
import { checkUrl, mayConnect, type Reach, reachOf } from '../../src/media/public-address.ts';

const publicUrls = [
  'https://example.com/picture.png',
  'https://EXAMPLE.com./a?b=c#d',
  'https://8.8.8.8/',
  'https://134744072/',
  'https://[2606:4700:4700::1111]/',
  'https://[::ffff:8.8.8.8]/',
  'https://[64:ff9b::8.8.8.8]/',
  'https://bücher.example/',
  'https://example.com:443/',
  'https://example.com:8443/',
  'https://172.32.0.1/',
  'https://100.128.0.1/',
  'https://localhost.example.com/',
  'https://notlocalhost/',
  'HTTPS://example.com',
];

/** Allowed in tests only. */
const privateUrls = [
  'https://127.0.0.1/',
  'https://127.1/',
  'https://127.0.1/',
  'https://127.255.255.254/',
  'https://2130706433/',
  'https://0x7f000001/',
  'https://0x7f.0.0.1/',
  'https://0x7f.1/',
  'https://0177.0.0.1/',
  'https://0177.1/',
  'https://017700000001/',
  'https://00000177.0.0.01/',
  'https://127.0.0.1./',
  'https://１２７.０.０.１/',
  'https://127。0。0。1/',
  'https://①②⑦.0.0.1/',
  'https://%31%32%37.0.0.1/',
  'https://127.0.0.1:8443/',
  'https:127.0.0.1/',
  'https:\\\\127.0.0.1\\',
  'https://127.0.0.1#@example.com/',
  'https://127.0.0.1?@example.com/',
  'https://\t127.0.0.1/',
  'https://10.0.0.1/',
  'https://10.255.255.255/',
  'https://167772161/',
  'https://0xa000001/',
  'https://012.0.0.1/',
  'https://172.16.0.1/',
  'https://172.31.255.255/',
  'https://192.168.0.1/',
  'https://192.168.1/',
  'https://3232235521/',
  'https://100.64.0.1/',
  'https://100.100.100.200/',
  'https://[::1]/',
  'https://[0:0:0:0:0:0:0:1]/',
  'https://[0000::0001]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::ffff:7f00:1]/',
  'https://[0:0:0:0:0:ffff:10.0.0.1]/',
  'https://[::FFFF:192.168.0.1]/',
  'https://[fc00::1]/',
  'https://[fd00:ec2::254]/',
  'https://[fdff:ffff::]/',
  'https://localhost/',
  'https://LOCALHOST/',
  'https://localhost./',
  'https://a.localhost/',
  'https://a.b.localhost.:9999/',
  'https://ⓛocalhost/',
];

/** Refused always. */
const forbiddenUrls = [
  'https://0.0.0.0/',
  'https://0/',
  'https://0.1.2.3/',
  'https://169.254.169.254/latest/meta-data/',
  'https://2852039166/',
  'https://0xa9fea9fe/',
  'https://0251.0376.0251.0376/',
  'https://[::ffff:169.254.169.254]/',
  'https://[::ffff:a9fe:a9fe]/',
  'https://169.254.1.1/',
  'https://168.63.129.16/',
  'https://224.0.0.1/',
  'https://239.255.255.255/',
  'https://240.0.0.1/',
  'https://255.255.255.255/',
  'https://4294967295/',
  'https://192.0.0.192/',
  'https://192.0.2.1/',
  'https://198.51.100.1/',
  'https://203.0.113.1/',
  'https://198.18.0.1/',
  'https://192.88.99.1/',
  'https://[::]/',
  'https://[::127.0.0.1]/',
  'https://[::10.0.0.1]/',
  'https://[::8.8.8.8]/',
  'https://[64:ff9b::127.0.0.1]/',
  'https://[64:ff9b::169.254.169.254]/',
  'https://[64:ff9b::10.0.0.1]/',
  'https://[64:ff9b:1::8.8.8.8]/',
  'https://[2002:7f00:1::]/',
  'https://[2002:a00:1::1]/',
  'https://[2002:808:808::1]/',
  'https://[2001:0:7f00:1::]/',
  'https://[2001:db8::1]/',
  'https://[3fff::1]/',
  'https://[fe80::1]/',
  'https://[febf::1]/',
  'https://[fec0::1]/',
  'https://[ff02::1]/',
  'https://[ff0e::1]/',
  'https://[100::1]/',
  'https://[5f00::1]/',
  'https://[4000::1]/',
  'https://[::ffff:0:127.0.0.1]/',
  'https://user@example.com/',
  'https://user:secret@example.com/',
  'https://:secret@example.com/',
  'http://8.8.8.8/',
  'ftp://example.com/',
  'file:///etc/passwd',
  'gopher://127.0.0.1/',
  'javascript:alert(1)',
  'data:text/plain,hello',
  'blob:https://example.com/1',
  'ws://example.com/',
  '//example.com/',
  'example.com/picture.png',
  '/picture.png',
  'https://',
  'https:///',
  'https://[::1',
  'https://[fe80::1%25eth0]/',
  'https://256.256.256.256/',
  'https://1.2.3.4.5/',
  'https://0x100000000/',
  'https://exa mple.com/',
  'https://example.com:99999/',
  '',
  ' ',
  `https://example.com/${'a'.repeat(8200)}`,
];

const isAccepted = (url: string, allowPrivate: boolean): boolean => 'url' in checkUrl(url, { allowPrivate });

t.test('addresses in every notation', async (t) => {
  for (const url of publicUrls) t.same([isAccepted(url, false), isAccepted(url, true)], [true, true], url);
  for (const url of privateUrls) t.same([isAccepted(url, false), isAccepted(url, true)], [false, true], url);
  for (const url of forbiddenUrls)
    t.same([isAccepted(url, false), isAccepted(url, true)], [false, false], url);
});

t.test('http is only for private addresses, where these are allowed', async (t) => {
  t.notOk(isAccepted('http://127.0.0.1/', false));
  t.ok(isAccepted('http://127.0.0.1:80/', true));
  t.ok(isAccepted('http://name.test/', true), 'a name is decided on when it is resolved');
  t.notOk(mayConnect('http:', '8.8.8.8', { allowPrivate: true }));
  t.ok(mayConnect('http:', '10.1.2.3', { allowPrivate: true }));
  t.ok(mayConnect('https:', '8.8.8.8', { allowPrivate: true }));
  t.notOk(mayConnect('https:', '10.1.2.3', { allowPrivate: false }));
});

t.test('ports', async (t) => {
  const ports = [22, 25, 80, 110, 445, 993, 1023].filter((port) =>
    isAccepted(`https://example.com:${port}/`, false),
  );
  t.same(ports, []);
  for (const port of [443, 1024, 65535])
    t.ok(isAccepted(`https://example.com:${port}/`, false), String(port));
});

t.test('the error that the client gets', async (t) => {
  const problem = (url: string, allowPrivate = false) => {
    const result = checkUrl(url, { allowPrivate });
    return 'problem' in result ? result.problem : undefined;
  };
  t.equal(problem('https://10.0.0.1/'), 'must be an https URL on a public host');
  t.equal(problem('nonsense', true), 'must be an https URL');
  t.equal(problem('https://me@example.com/'), 'must not hold a user name or password');
  t.equal(problem('https://example.com:22/'), 'must use port 443 or one from 1024 up');
});

t.test('addresses as resolvers write them', async (t) => {
  const cases: Readonly<Record<string, Reach>> = {
    '8.8.8.8': 'public',
    '127.0.0.1': 'private',
    '::ffff:127.0.0.1': 'private',
    '::ffff:8.8.8.8': 'public',
    '::1': 'private',
    'fe80::1%eth0': 'forbidden',
    '169.254.169.254': 'forbidden',
    '2001:4860:4860::8888': 'public',
    '': 'forbidden',
    localhost: 'forbidden',
  };
  for (const [address, reach] of Object.entries(cases)) t.equal(reachOf(address), reach, address);
});
