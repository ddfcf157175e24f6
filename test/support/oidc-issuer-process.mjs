/**
 * A real issuer of OpenID Connect (oidc-provider) in a separate process, because Jest cannot load its modules
 * on Node 20. POST /control sets the person who signs in next, and claims that falsify ID tokens.
 */
import { createServer } from 'node:http';
import { generateKeyPairSync, sign } from 'node:crypto';
import { text } from 'node:stream/consumers';
import Provider from 'oidc-provider';

const [redirectUri] = process.argv.slice(2);
const CLIENT = { client_id: 'plinth', client_secret: 'secret of plinth' };
const SCOPES = 'openid email profile groups';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const jwk = { ...privateKey.export({ format: 'jwk' }), kid: 'k1', use: 'sig', alg: 'RS256' };

/** The person at the issuer, and changes of the next ID tokens. */
const control = { person: { sub: 'nobody' }, forged: null };

const server = createServer();
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const issuer = `http://127.0.0.1:${server.address().port}`;

const provider = new Provider(issuer, {
  clients: [{ ...CLIENT, redirect_uris: [redirectUri] }],
  jwks: { keys: [jwk] },
  cookies: { keys: ['cookies of the issuer'] },
  scopes: SCOPES.split(' '),
  claims: {
    openid: ['sub', 'amr'],
    email: ['email', 'email_verified'],
    profile: ['name'],
    groups: ['groups'],
  },
  conformIdTokenClaims: false,
  pkce: { required: () => true },
  features: { devInteractions: { enabled: false } },
  interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
  findAccount: (_ctx, sub) => ({ accountId: sub, claims: () => ({ ...control.person, sub }) }),
  async loadExistingGrant({ oidc }) {
    const grant = new oidc.provider.Grant({
      clientId: oidc.client.clientId,
      accountId: oidc.session.accountId,
    });
    grant.addOIDCScope(SCOPES);
    await grant.save();
    return grant;
  },
});

provider.use(async (ctx, next) => {
  await next();
  if (ctx.path !== '/token' || !control.forged || !ctx.body?.id_token) return;
  const [head, claims] = ctx.body.id_token.split('.');
  const payload = { ...JSON.parse(Buffer.from(claims, 'base64url')), ...control.forged };
  const signed = `${head}.${Buffer.from(JSON.stringify(payload)).toString('base64url')}`;
  const signature = sign('RSA-SHA256', signed, privateKey).toString('base64url');
  ctx.body = { ...ctx.body, id_token: `${signed}.${signature}` };
});

const handle = provider.callback();
server.on('request', (request, response) => {
  const { pathname } = new URL(request.url, issuer);
  if (pathname === '/control') {
    void text(request).then((body) => {
      Object.assign(control, { forged: null }, JSON.parse(body));
      response.end();
    });
  } else if (pathname.startsWith('/interaction/')) {
    void provider.interactionFinished(request, response, { login: { accountId: control.person.sub } });
  } else {
    handle(request, response);
  }
});
process.stdout.write(`${issuer}\n`);
// Ends with the test, even if the test is killed.
process.stdin.resume().once('end', () => process.exit());
