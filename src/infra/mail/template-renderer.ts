/** Renders mail templates in a thread, which is ended when a template takes too long or too much memory. */
import { Injectable, OnApplicationShutdown } from '@nestjs/common';
import { join } from 'node:path';
import { Piscina } from 'piscina';
import { codeOf, messageOf, nameOf } from '../../common/errors/error-facts';
import { httpError } from '../../common/errors/app-error';
import { Slots } from '../../admission/slots';
import { MailTemplate, MailValues } from './mail-template';

/** Milliseconds, more than the engine's limit: ends a template that the engine does not stop. */
const RENDER_TIMEOUT_MS = 2_000;
const MAX_HEAP_MIB = 64;
const THREADS = 2;
const MAX_WAITING = 1_000;
const IDLE_THREAD_MS = 30_000;
const NICE_INCREMENT = 5;

/** An error of the template. The message is for its author, and names the part and the reason. */
export class TemplateFault extends Error {}

@Injectable()
export class TemplateRenderer implements OnApplicationShutdown {
  private readonly threads = new Piscina<object, MailTemplate>({
    filename: join(__dirname, 'template-worker.cjs'),
    minThreads: 0,
    maxThreads: THREADS,
    idleTimeout: IDLE_THREAD_MS,
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MIB, maxYoungGenerationSizeMb: MAX_HEAP_MIB / 4 },
    // Sleeping in Atomics.wait would keep a thread from noticing that the pool is closed.
    atomics: 'disabled',
    // The histograms are not read, and take 0.7 MiB.
    recordTiming: false,
    ...(process.platform === 'linux' ? { niceIncrement: NICE_INCREMENT } : {}),
  });
  /** The time limit begins when a thread is free, not while a template waits for one. */
  private readonly slots = new Slots(THREADS, MAX_WAITING);

  async onApplicationShutdown(): Promise<void> {
    await this.threads.destroy();
  }

  /**
   * @param tenant id of the project, if there is one: projects take turns, because a template may take the whole time limit
   * @throws TemplateFault for a template that does not parse, or does too much
   */
  async render(template: MailTemplate, values: MailValues, tenant?: string): Promise<MailTemplate> {
    return this.slots.use(
      () => this.renderNow(template, values),
      () => httpError(503, 'Too many mails are being rendered'),
      tenant,
    );
  }

  private async renderNow(template: MailTemplate, values: MailValues): Promise<MailTemplate> {
    try {
      const signal = AbortSignal.timeout(RENDER_TIMEOUT_MS);
      return await this.threads.run({ template, values }, { name: 'render', signal });
    } catch (error) {
      throw new TemplateFault(reasonOf(error), { cause: error });
    }
  }
}

function reasonOf(error: unknown): string {
  if (nameOf(error) === 'AbortError') return `it takes longer than ${RENDER_TIMEOUT_MS / 1000} seconds`;
  if (codeOf(error) === 'ERR_WORKER_OUT_OF_MEMORY') return 'it takes too much memory';
  return messageOf(error);
}
