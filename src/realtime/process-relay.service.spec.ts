import { once, EventEmitter } from 'node:events';
import type { RedisClient } from '../infra/coordination/redis-client';
import type { MessageBus } from '../install/message-bus.service';
import { ProcessRelay } from './process-relay.service';

const MIB = 1024 * 1024;

it('leaves room for the messages of other projects when one sends more than the server takes', async () => {
  const sent: { kind: string; from: string }[] = [];
  const server = new EventEmitter();
  const subscriber = Object.assign(new EventEmitter(), {
    subscribe: () => Promise.resolve(),
    disconnect: () => undefined,
  });
  const connection = {
    duplicate: () => subscriber,
    publish: async (_channel: string, text: string) => {
      sent.push(JSON.parse(text) as (typeof sent)[number]);
      // The server holds back every message.
      if (!text.includes('hello')) await once(server, 'go');
    },
  };
  const relay = new ProcessRelay({} as MessageBus, { connection } as unknown as RedisClient);
  relay.onApplicationBootstrap();
  subscriber.emit('message', '', JSON.stringify({ from: 'peer', kind: 'hello', body: {} }));
  for (let n = 0; n < 40; n += 1) relay.send('flood', 'broadcast', { text: 'x'.repeat(MIB / 2) });
  const dropped = relay.dropped;
  expect(dropped).toBeGreaterThan(30);
  relay.send('other', 'broadcast', { text: 'y' });
  expect(relay.dropped).toBe(dropped);
  const going = setInterval(() => server.emit('go'), 1);
  await relay.onApplicationShutdown();
  clearInterval(going);
  expect(sent.at(-2)).toMatchObject({ kind: 'broadcast', body: { text: 'y' } });
});
