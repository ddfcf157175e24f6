/** More bytes of rows arrived than the statement admits. What was left of them was dropped as it arrived. */
export class ResultTooLargeError extends Error {
  /** @param maxBytes that were admitted */
  constructor(readonly maxBytes: number) {
    super(`The result has more than ${maxBytes} bytes`);
    this.name = 'ResultTooLargeError';
  }
}
