import { until } from '../../test/support/eventually';
import { ChannelHub } from './channel-hub.service';
import { SharedFrame } from './phoenix-protocol';
import { PROJECT_LIMITS } from './realtime-limits';
import { type Channel, RealtimeSocket } from './realtime-socket';

const MEMBERS = 200;
const MESSAGES = 20;

it('delivers a burst of messages over several turns of the event loop, in order', async () => {
  const hub = new ChannelHub();
  const received: string[][] = [];
  for (let n = 0; n < MEMBERS; n += 1) {
    const own: string[] = [];
    received.push(own);
    const socket = {
      projectId: 'p',
      sendShared: ({ message }: SharedFrame) => own.push('payload' in message ? message.payload : ''),
    };
    hub.add({ socket, room: 'public:a' } as unknown as Channel);
  }
  const frames = Array.from({ length: MESSAGES }, (_, at) => String(at));
  for (const payload of frames)
    hub.deliver('p', 'public:a', new SharedFrame({ topic: 'a', event: 'x', payload }), () => true);
  expect(hub.counts.sent).toBeLessThanOrEqual(250);
  await until(() => hub.counts.sent === MEMBERS * MESSAGES);
  expect(new Set(received.map((own) => own.join()))).toEqual(new Set([frames.join()]));
});

it('counts the memory of all sockets of a project: tokens once for each socket, listeners and presences', () => {
  const hub = new ChannelHub();
  const key = { project: { id: 'p' } } as RealtimeSocket['apiKey'];
  const join = (socket: RealtimeSocket, topic: string, token: string, changes = 0): Channel => {
    const channel = {
      socket,
      topic,
      room: topic,
      token,
      held: { changes, presence: 0 },
    } as unknown as Channel;
    socket.channels.set(topic, channel);
    hub.add(channel);
    return channel;
  };
  const leave = (channel: Channel): void => {
    channel.socket.channels.delete(channel.topic);
    hub.remove(channel);
  };
  const [one, other] = ['a', 'b'].map(() => new RealtimeSocket({} as never, '2.0.0', 'key', key)) as [
    RealtimeSocket,
    RealtimeSocket,
  ];
  const half = PROJECT_LIMITS.heldBytes / 2;
  const first = join(one, 'a', 'x'.repeat(half / 3));
  expect(hub.measure(first)).toBe(true);
  // The token of the connection does not count, nor does the same token in another channel.
  expect(hub.measure(join(one, 'b', first.token))).toBe(true);
  expect(hub.measure(join(other, 'a', 'key'))).toBe(true);
  const large = join(other, 'b', 'key', half / 16);
  expect(hub.measure(large)).toBe(true);
  const more = join(other, 'c', 'key', 1);
  expect(hub.measure(more)).toBe(false);
  leave(large);
  expect(hub.measure(more)).toBe(true);
  for (const channel of [...one.channels.values(), ...other.channels.values()]) leave(channel);
  expect([one.heldBytes, other.heldBytes]).toEqual([0, 0]);
});
