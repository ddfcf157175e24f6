/** The current time as an injected dependency: tests set it. */

export abstract class Clock {
  /** Milliseconds since the Unix epoch. */
  abstract now(): number;

  date(): Date {
    return new Date(this.now());
  }

  /** Whole seconds since the Unix epoch, as JWT claims count them (RFC 7519, NumericDate). */
  nowSeconds(): number {
    return Math.floor(this.now() / 1000);
  }
}

export class SystemClock extends Clock {
  now(): number {
    return Date.now();
  }
}
