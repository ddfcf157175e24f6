/** A client that stops reading must not hold a database connection forever. */
import { EventEmitter } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
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

type Control = Record<'pause' | 'resume' | 'cancel' | 'beginStream' | 'endSession', jest.Mock>;

const FORMAT = { head: Buffer.from('['), separator: Buffer.from(','), tail: Buffer.from(']'), isLine: false };

/** A collector whose client has not read the first rows, so that their source is paused. */
function pausedCollector(
  response: ServerResponse,
  stopsWithClient = true,
): { collector: RowCollector; control: Control } {
  const control = {
    pause: jest.fn(),
    resume: jest.fn(),
    cancel: jest.fn(),
    beginStream: jest.fn(),
    endSession: jest.fn(),
  };
  const collector = new RowCollector(response, {
    format: FORMAT,
    begin: () => undefined,
    stopsWithClient,
    keepsFirst: false,
    hold: () => ({ grow: () => undefined, release: () => undefined }),
    writes: false,
    client: () => '192.0.2.1',
  });
  collector.onStart(control);
  collector.onRow(Buffer.alloc(3 * 1024 * 1024, 'x'));
  return { collector, control };
}

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

describe('RowCollector', () => {
  let response: FullResponse;
  let control: Control;
  let collector: RowCollector;

  beforeEach(() => {
    response = new FullResponse();
    ({ control, collector } = pausedCollector(response as unknown as ServerResponse));
  });

  it('aborts when the client reads nothing for too long', () => {
    expect(control.pause).toHaveBeenCalledTimes(1);
    jest.advanceTimersByTime(STALL_LIMIT_MS - 1);
    expect(response.destroyed).toBe(false);
    jest.advanceTimersByTime(1);
    expect(response.destroyed).toBe(true);
    expect(control.cancel).toHaveBeenCalledTimes(1);
    expect(control.resume).toHaveBeenCalledTimes(1);
  });

  it('restarts the time limit after each chunk that the client took', () => {
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

  it('resumes a source that must not be cancelled when the client disconnects', () => {
    response = new FullResponse();
    ({ control } = pausedCollector(response as unknown as ServerResponse, false));
    response.destroy();
    expect(control.cancel).not.toHaveBeenCalled();
    expect(control.resume).toHaveBeenCalledTimes(1);
  });
});

// Node emits no `close` for such a response, because destroy() waits for the socket.
describe('RowCollector for a response without a socket', () => {
  let response: ServerResponse;
  let control: Control;
  let collector: RowCollector;

  beforeEach(() => {
    response = new ServerResponse(new IncomingMessage(new Socket()));
    ({ control, collector } = pausedCollector(response));
  });

  const expectStopped = (): void => {
    expect(response.destroyed).toBe(true);
    expect(control.cancel).toHaveBeenCalledTimes(1);
    expect(control.resume).toHaveBeenCalledTimes(1);
  };

  it('aborts when the client reads nothing for too long', () => {
    jest.advanceTimersByTime(STALL_LIMIT_MS);
    expectStopped();
  });

  it('aborts when another request needs the connection', () => {
    const [, end] = control.beginStream.mock.calls[0] as [string, () => void];
    end();
    expectStopped();
    // The time limit no longer runs.
    jest.advanceTimersByTime(STALL_LIMIT_MS);
    expectStopped();
  });

  it('sends nothing after an abort', () => {
    jest.advanceTimersByTime(STALL_LIMIT_MS);
    collector.onRow(Buffer.alloc(1024 * 1024, 'x'));
    expect(control.pause).toHaveBeenCalledTimes(1);
  });

  it('stops a source that starts again after an abort', () => {
    response.destroy();
    collector.onStart(control);
    expect(control.cancel).toHaveBeenCalledTimes(1);
  });
});
