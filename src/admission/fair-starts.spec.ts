import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { FairStarts } from './fair-starts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function requestOf(apikey: string, headers: Record<string, string> = {}): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  Object.assign(request.headers, { apikey, ...headers });
  return request;
}

describe('FairStarts', () => {
  it('starts all requests immediately while one tenant is present', () => {
    const starts = new FairStarts();
    let started = 0;
    for (let n = 0; n < 100; n += 1) starts.take(requestOf('one'), () => (started += 1));
    expect(started).toBe(100);
  });

  describe('with a flood of one tenant', () => {
    let starts: FairStarts;
    let order: string[];
    const take = (tenant: string, name: string, headers?: Record<string, string>): IncomingMessage => {
      const request = requestOf(tenant, headers);
      starts.take(request, () => order.push(name));
      return request;
    };
    beforeEach(() => {
      [starts, order] = [new FairStarts(), []];
      take('flood', 'first');
      take('neighbour', 'n0');
      for (let n = 0; n < 100; n += 1) take('flood', String(n));
    });

    it("starts another tenant's request before most of the flood, and all of the flood in the end, in order", async () => {
      take('neighbour', 'n1');
      take('neighbour', 'n2');
      await turn();
      take('neighbour', 'n3');
      expect(order.indexOf('n3')).toBeLessThan(20);
      for (let n = 0; n < 60; n += 1) await turn();
      expect(order.filter((name) => /^\d/.test(name))).toEqual(
        Array.from({ length: 100 }, (_, n) => String(n)),
      );
      expect(order.filter((name) => name.startsWith('n'))).toEqual(['n0', 'n1', 'n2', 'n3']);
    });

    it.each([
      ['content-length', '7'],
      ['transfer-encoding', 'chunked'],
    ])(
      'immediately starts a request with a body, because the budget counts only bytes that were read: %s',
      (name, value) => {
        take('flood', 'body', { [name]: value });
        expect(order).toContain('body');
      },
    );

    it('gives a request with a body its turn once the body is read', async () => {
      const read = (tenant: string): Promise<void> | undefined =>
        starts.turnFor(take(tenant, 'body', { 'content-length': '7' }));
      expect(read('neighbour')).toBeUndefined();
      const waiting = read('flood')?.then(() => order.push('worked'));
      for (let n = 0; n < 60; n += 1) await turn();
      await waiting;
      expect(order.indexOf('worked')).toBeGreaterThan(order.indexOf('99'));
    });

    it('does not start a request whose client has disconnected', async () => {
      take('flood', 'gone').socket.destroy();
      for (let n = 0; n < 60; n += 1) await turn();
      expect(order).toContain('99');
      expect(order).not.toContain('gone');
    });
  });
});
