import { until } from '../../test/support/eventually';
import { ChannelHub } from './channel-hub.service';
import { SharedFrame } from './phoenix-protocol';
import type { Channel } from './realtime-socket';

const MEMBERS = 200;
const MESSAGES = 20;

it('gives a burst of messages in turns of the event loop, and keeps their order', async () => {
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
