/** A client that stops reading must not hold a database connection for ever. */
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { STALL_LIMIT_MS } from './response-stream';
import { RowCollector } from './row-collector';

class FullResponse extends EventEmitter {
  destroyed = false;
  closed = false;
  writableFinished = false;
  write = (): boolean => false;
  end = (): void => undefined;
  destroy(): void {
    this.destroyed = this.closed = true;
    this.emit('close');
  }
}

describe('RowCollector', () => {
  let response: FullResponse;
  let control: Record<'pause' | 'resume' | 'cancel' | 'beginStream' | 'endSession', jest.Mock>;
  let collector: RowCollector;

  beforeEach(() => {
    jest.useFakeTimers();
    response = new FullResponse();
    control = {
      pause: jest.fn(),
      resume: jest.fn(),
      cancel: jest.fn(),
      beginStream: jest.fn(),
      endSession: jest.fn(),
    };
    const format = {
      head: Buffer.from('['),
      separator: Buffer.from(','),
      tail: Buffer.from(']'),
      isLine: false,
    };
    collector = new RowCollector(response as unknown as ServerResponse, {
      format,
      begin: () => undefined,
      stopsWithClient: true,
      keepsFirst: false,
      hold: () => ({ grow: () => undefined, release: () => undefined }),
      writes: false,
      client: () => '192.0.2.1',
    });
    collector.onStart(control);
    collector.onRow(Buffer.alloc(3 * 1024 * 1024, 'x'));
  });
  afterEach(() => jest.useRealTimers());

  it('breaks off when the client takes nothing for too long', () => {
    expect(control.pause).toHaveBeenCalledTimes(1);
    jest.advanceTimersByTime(STALL_LIMIT_MS - 1);
    expect(response.destroyed).toBe(false);
    jest.advanceTimersByTime(1);
    expect(response.destroyed).toBe(true);
    expect(control.cancel).toHaveBeenCalledTimes(1);
    expect(control.resume).toHaveBeenCalledTimes(1);
  });

  it('starts the time limit anew after each chunk that the client took', () => {
    jest.advanceTimersByTime(STALL_LIMIT_MS - 1);
    response.emit('drain');
    jest.advanceTimersByTime(STALL_LIMIT_MS);
    expect(response.destroyed).toBe(false);
  });

  it('sets no time limit once all rows have arrived', () => {
    collector.finish();
    jest.advanceTimersByTime(STALL_LIMIT_MS);
    expect(response.destroyed).toBe(false);
  });
});
