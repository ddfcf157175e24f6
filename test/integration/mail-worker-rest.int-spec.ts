/** The mail worker after an error of the queue's own: BullMQ alone would try again at once, without end. */
import { MailProcessor } from '../../src/auth/mail/mail.processor';
import { eventually } from '../support/eventually';
import { TestPlinth } from '../support/plinth';

it('rests for a moment, then works on', async () => {
  const plinth = await TestPlinth.start();
  try {
    const { worker } = plinth.app.get(MailProcessor);
    worker.emit('error', new Error('the database answers with an error'));
    expect(worker.isPaused()).toBe(true);
    await eventually(async () => expect(worker.isPaused()).toBe(false), 10_000);
    expect(worker.isRunning()).toBe(true);
  } finally {
    await plinth.stop();
  }
});
