/** Lets Jest compare Buffers by their bytes. Otherwise it compares megabytes one by one, as the members of an object. */
type Tester = (one: unknown, other: unknown) => boolean | undefined;

const buffersEqual: Tester = (one, other) =>
  Buffer.isBuffer(one) && Buffer.isBuffer(other) ? one.equals(other) : undefined;

// @types/jest does not know the function.
(expect as unknown as { addEqualityTesters(testers: Tester[]): void }).addEqualityTesters([buffersEqual]);
