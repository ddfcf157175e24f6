/**
 * Prints dates and times from PostgreSQL's binary format as to_json() writes them, in quotes: ISO 8601 with a T, at most
 * six digits after the second, years before 1 as in `0044-03-15 BC` (PostgreSQL manual, 8.5.2 and 9.16).
 */
import { digitsOf, int32At, int64At, printAscii, printDigits } from './binary-values';

const QUOTE = 0x22;
const PLUS = 0x2b;
const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const COLON = 0x3a;
const LETTER_T = 0x54;
const LETTER_Z = 0x5a;

/** Microseconds per second. */
const SECOND = 1_000_000;
const DAY = 86_400 * SECOND;
const DAY_EXACT = BigInt(DAY);
/** Days from 0000-03-01, from which printDay() counts, to PostgreSQL's epoch, 2000-01-01. */
const EPOCH = 730_425;
/** 0001-01-01 in days since 2000-01-01. */
const FIRST_DAY = 306 - EPOCH;
const DAYS_OF_400_YEARS = 146_097;
const DAYS_OF_100_YEARS = 36_524;
const DAYS_OF_4_YEARS = 1_461;

const MAX_INT32 = 0x7fffffff;
const SMALLEST_INT32 = -0x80000000;

/** @param from days since 2000-01-01 in four bytes */
export function printDate(bytes: Buffer, from: number, into: Buffer, at: number): number {
  const days = int32At(bytes, from);
  if (days === MAX_INT32 || days === SMALLEST_INT32) return printInfinite(days, into, at);
  into[at] = QUOTE;
  return printEnd(days, into, printDay(days, into, at + 1));
}

/** @param from microseconds since 2000-01-01 00:00 in eight bytes, without a time zone */
export function printTimestamp(bytes: Buffer, from: number, into: Buffer, at: number): number {
  if (isInfinite(bytes, from)) return printInfinite(int32At(bytes, from), into, at);
  const days = daysAt(bytes, from);
  into[at] = QUOTE;
  return printEnd(days, into, printDayAndTime(days, timeAt(bytes, from, days), into, at + 1));
}

/**
 * A timestamp with time zone, in the session's zone.
 * @param from the time in that zone, as a timestamp without one
 * @param utc the timestamp itself
 */
export function printZoned(bytes: Buffer, from: number, utc: number, into: Buffer, at: number): number {
  if (isInfinite(bytes, from)) return printInfinite(int32At(bytes, from), into, at);
  const days = daysAt(bytes, from);
  into[at] = QUOTE;
  const to = printDayAndTime(days, timeAt(bytes, from, days), into, at + 1);
  return printEnd(days, into, printOffset(offsetAt(bytes, from, utc), into, to));
}

/** A finite timestamp with time zone since the year 1, as Date.toISOString() writes it: in UTC, with milliseconds. */
export function printInstant(bytes: Buffer, from: number, into: Buffer, at: number): number {
  const days = daysAt(bytes, from);
  const time = timeAt(bytes, from, days);
  const seconds = (time / SECOND) | 0;
  into[at] = QUOTE;
  const to = printClock(seconds, into, printDay(days, into, at + 1));
  into[to] = DOT;
  const end = printDigits(((time - seconds * SECOND) / 1000) | 0, 3, into, to + 1);
  into[end] = LETTER_Z;
  into[end + 1] = QUOTE;
  return end + 2;
}

/** `infinity` and `-infinity` are the largest and the smallest int64. No timestamp comes near them. */
function isInfinite(bytes: Buffer, from: number): boolean {
  const first = bytes[from] as number;
  return (first === 0x7f || first === 0x80) && Math.abs(int32At(bytes, from)) >= MAX_INT32;
}

function printInfinite(sign: number, into: Buffer, at: number): number {
  return printAscii(sign < 0 ? '"-infinity"' : '"infinity"', into, at);
}

/** Whole days in the 8-byte count of microseconds at `from`. */
function daysAt(bytes: Buffer, from: number): number {
  const microseconds = int64At(bytes, from);
  if (!Number.isSafeInteger(microseconds)) {
    const exact = bytes.readBigInt64BE(from);
    return Number((exact - (((exact % DAY_EXACT) + DAY_EXACT) % DAY_EXACT)) / DAY_EXACT);
  }
  // The quotient is below 2^17, so rounding changes it by less than 1 / DAY, and never up to a whole number.
  return Math.floor(microseconds / DAY) | 0;
}

/** Microseconds since the beginning of the day `days`. */
function timeAt(bytes: Buffer, from: number, days: number): number {
  const microseconds = int64At(bytes, from);
  return Number.isSafeInteger(microseconds)
    ? microseconds - days * DAY
    : Number(bytes.readBigInt64BE(from) - BigInt(days) * DAY_EXACT);
}

/** Seconds from one timestamp to another, at most a day apart. */
function offsetAt(bytes: Buffer, from: number, utc: number): number {
  const microseconds = int64At(bytes, from);
  return Number.isSafeInteger(microseconds)
    ? ((microseconds - int64At(bytes, utc)) / SECOND) | 0
    : Number((bytes.readBigInt64BE(from) - bytes.readBigInt64BE(utc)) / BigInt(SECOND));
}

function printDayAndTime(days: number, time: number, into: Buffer, at: number): number {
  const seconds = (time / SECOND) | 0;
  const to = printClock(seconds, into, printDay(days, into, at));
  return printFraction((time - seconds * SECOND) | 0, into, to);
}

/** Prints `2024-02-29`. Counts years from March on, so that the leap day is the last day of its year. */
function printDay(days: number, into: Buffer, at: number): number {
  const since = days + EPOCH;
  const era = Math.floor(since / DAYS_OF_400_YEARS) | 0;
  const dayOfEra = (since - era * DAYS_OF_400_YEARS) | 0;
  const leapDays =
    ((dayOfEra / (DAYS_OF_4_YEARS - 1)) | 0) -
    ((dayOfEra / DAYS_OF_100_YEARS) | 0) +
    ((dayOfEra / (DAYS_OF_400_YEARS - 1)) | 0);
  const yearOfEra = ((dayOfEra - leapDays) / 365) | 0;
  const dayOfYear = (dayOfEra - 365 * yearOfEra - (yearOfEra >> 2) + ((yearOfEra / 100) | 0)) | 0;
  const marchMonth = ((5 * dayOfYear + 2) / 153) | 0;
  const day = (dayOfYear - (((153 * marchMonth + 2) / 5) | 0) + 1) | 0;
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9;
  const year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0);
  // There is no year 0: 1 BC comes before 1.
  const shown = year > 0 ? year : 1 - year;
  const to = printDigits(shown, shown < 10_000 ? 4 : digitsOf(shown), into, at);
  into[to] = MINUS;
  printTwoDigits(month, into, to + 1);
  into[to + 3] = MINUS;
  return printTwoDigits(day, into, to + 4);
}

/** Prints `T23:59:59`. */
function printClock(seconds: number, into: Buffer, at: number): number {
  const minutes = (seconds / 60) | 0;
  const hours = (minutes / 60) | 0;
  into[at] = LETTER_T;
  printTwoDigits(hours, into, at + 1);
  into[at + 3] = COLON;
  printTwoDigits(minutes - 60 * hours, into, at + 4);
  into[at + 6] = COLON;
  return printTwoDigits(seconds - 60 * minutes, into, at + 7);
}

/** Prints `.5` without trailing zeros, or nothing. */
function printFraction(microseconds: number, into: Buffer, at: number): number {
  if (microseconds === 0) return at;
  into[at] = DOT;
  let to = printDigits(microseconds, 6, into, at + 1);
  while (into[to - 1] === ZERO) to -= 1;
  return to;
}

/** Prints `+05:45`. Before time zones were unified, some offsets had seconds. */
function printOffset(offset: number, into: Buffer, at: number): number {
  const seconds = offset < 0 ? -offset : offset;
  const minutes = (seconds / 60) | 0;
  const hours = (minutes / 60) | 0;
  into[at] = offset < 0 ? MINUS : PLUS;
  printTwoDigits(hours, into, at + 1);
  into[at + 3] = COLON;
  const to = printTwoDigits(minutes - 60 * hours, into, at + 4);
  if (seconds === 60 * minutes) return to;
  into[to] = COLON;
  return printTwoDigits(seconds - 60 * minutes, into, to + 1);
}

function printTwoDigits(value: number, into: Buffer, at: number): number {
  const tens = (value / 10) | 0;
  into[at] = ZERO + tens;
  into[at + 1] = ZERO + value - 10 * tens;
  return at + 2;
}

function printEnd(days: number, into: Buffer, at: number): number {
  const to = days < FIRST_DAY ? printAscii(' BC', into, at) : at;
  into[to] = QUOTE;
  return to + 1;
}
