/** The mail worker after an error of the queue itself, which BullMQ alone would retry in a busy loop. */
import { MailProcessor } from '../../src/auth/mail/mail.processor';
import { eventually } from '../support/eventually';
import { TestPlinth } from '../support/plinth';

it('pauses, then continues to work', async () => {
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
