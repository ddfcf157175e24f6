/** The issuer of oidc-issuer-process.mjs, and a browser that signs in there. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** Claims of an account at the issuer. */
export type IssuerPerson = { readonly sub: string } & Readonly<Record<string, unknown>>;

export class OidcIssuer {
  private constructor(
    private readonly process: ChildProcess,
    /** The issuer's address. */
    readonly url: string,
  ) {}

  /** @param redirectUri the client's only redirect address */
  static async start(redirectUri: string): Promise<OidcIssuer> {
    const child = spawn(process.execPath, [join(__dirname, 'oidc-issuer-process.mjs'), redirectUri], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, NODE_ENV: 'test', NODE_OPTIONS: '' },
    });
    const [url] = (await once(createInterface(child.stdout), 'line')) as [string];
    return new OidcIssuer(child, url);
  }

  /** Environment of a Plinth that trusts the issuer. */
  environment(roles: object): Record<string, string> {
    return {
      STAFF_SIGN_IN: JSON.stringify({
        oidc: {
          issuer: this.url,
          client_id: 'plinth',
          client_secret: 'secret of plinth',
          scopes: 'openid email profile groups',
          roles,
        },
      }),
    };
  }

  /** @param forged claims that replace claims of ID tokens */
  async setPerson(
    person: IssuerPerson,
    forged: Readonly<Record<string, unknown>> | null = null,
  ): Promise<void> {
    await fetch(`${this.url}/control`, { method: 'POST', body: JSON.stringify({ person, forged }) });
  }

  /** Signs in. @param start address that Plinth redirects to @returns address of the callback */
  async signIn(start: string): Promise<URL> {
    const cookies = new Map<string, string>();
    let address = start;
    while (address.startsWith(this.url)) {
      const answer = await fetch(address, {
        redirect: 'manual',
        headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      });
      for (const cookie of answer.headers.getSetCookie()) {
        const [name = '', value = ''] = cookie.split(';')[0]!.split(/=(.*)/s);
        cookies.set(name, value);
      }
      const location = answer.headers.get('location');
      if (!location) throw new Error(`the issuer answered ${answer.status}: ${await answer.text()}`);
      address = new URL(location, address).href;
    }
    return new URL(address);
  }

  async stop(): Promise<void> {
    const exit = once(this.process, 'exit');
    this.process.stdin?.end();
    await exit;
  }
}
