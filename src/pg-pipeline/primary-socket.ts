/** A socket to the primary among several hosts, for a client of node-postgres that is made elsewhere. */
import { Socket } from 'node:net';
import { HostListClient } from './host-list-client';

export class PrimarySocket extends Socket {
  /** @param url with several hosts (host-list.ts) */
  constructor(private readonly url: string) {
    super();
  }

  /** @param _args the address that the client has, which is that of the first host */
  override connect(..._args: unknown[]): this {
    new HostListClient({ connectionString: this.url }).findPrimary().then(
      ({ host, port }) => super.connect(port, host),
      (error: Error) => this.destroy(error),
    );
    return this;
  }
}
