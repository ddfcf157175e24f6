/** The checks of environment variables. Each kind has one message, which names the variable once and never its value. */
import { Transform } from 'class-transformer';
import { IsInt, Matches, Max, Min, MinLength, ValidateBy } from 'class-validator';
import { withHostList } from '../pg-pipeline';
import { parsePlanQuotas } from './plan-quotas';

type Check = (options: { message: string }) => PropertyDecorator;

const asGiven = ({ value }: { value: unknown }): unknown => value;

const toNumber = ({ value }: { value: unknown }): unknown =>
  typeof value === 'string' && value.trim() !== '' ? Number(value) : value;

const toBytes = ({ value }: { value: unknown }): unknown => bytesIn(String(value)) ?? value;

/** `50MB`, `50 MiB`, `1048576`: a size in bytes; binary multiples, as file systems count. Null for another form. */
export function bytesIn(text: string): number | null {
  const match = /^(\d+)\s*(?:([KMGT])i?B?)?$/i.exec(text.trim());
  if (!match) return null;
  const power = match[2] ? 'KMGT'.indexOf(match[2].toUpperCase()) + 1 : 0;
  return Number(match[1]) * 1024 ** power;
}

/** Reads the text, then runs the checks, which share one message. */
function checked(read: typeof asGiven, requirement: string, ...checks: Check[]): PropertyDecorator {
  const message = `$property must be ${requirement}`;
  return (target, name) => {
    Transform(read)(target, name);
    for (const check of checks) check({ message })(target, name);
  };
}

const within = (least: number, most: number): Check[] => [
  (options) => Min(least, options),
  (options) => Max(most, options),
];

export const WholeNumber = (least: number, most: number): PropertyDecorator =>
  checked(toNumber, `a whole number from ${least} to ${most}`, (o) => IsInt(o), ...within(least, most));

/** A TCP port. 0 stands for any free one. */
export const Port = (least: number): PropertyDecorator =>
  checked(toNumber, `a whole number from ${least} to 65535`, (options) =>
    ValidateBy({ name: 'port', validator: { validate: (value) => isPort(value, least) } }, options),
  );

export const SizeInBytes = (least: number): PropertyDecorator =>
  checked(
    toBytes,
    `a size of ${least} or more bytes, such as 50MiB`,
    (options) => IsInt(options),
    (options) => Min(least, options),
  );

export const Secret = (least: number): PropertyDecorator =>
  checked(asGiven, `${least} or more characters`, (options) => MinLength(least, options));

/** Text of a form that `requirement` describes in words. */
export const Form = (pattern: RegExp, requirement: string): PropertyDecorator =>
  checked(asGiven, requirement, (options) => Matches(pattern, options));

/** Quotas of plans. */
export const Quotas = (): PropertyDecorator =>
  checked(
    asGiven,
    'quotas by plan, such as free: database_quota_bytes=500MiB requests_per_day=50000; pro: mails_per_day=200',
    (options) =>
      ValidateBy(
        {
          name: 'quotas',
          validator: { validate: (value) => typeof value === 'string' && parsePlanQuotas(value) !== null },
        },
        options,
      ),
  );

/** Address of a web server. */
export const HttpUrl = (): PropertyDecorator => address(['http', 'https'], 'https://example.com');

/** Address of a web server, or of a file on this machine. */
export const HttpUrlOrFile = (): PropertyDecorator =>
  address(['http', 'https', 'file'], 'https://example.com or file:///srv/list.txt');

/** Address of a server, which may hold a user and a password. */
export const ServerUrl = (...schemes: [string, ...string[]]): PropertyDecorator =>
  address(
    schemes,
    `${schemes[0]}://user:password@host, with #, /, :, ?, @ and % in the password percent-encoded`,
  );

function address(schemes: readonly string[], example: string): PropertyDecorator {
  const validate = (value: unknown): boolean =>
    typeof value === 'string' && schemes.some((scheme) => isAddress(value, scheme));
  return checked(asGiven, `an address such as ${example}`, (options) =>
    ValidateBy({ name: 'address', validator: { validate } }, options),
  );
}

/** Whether the value is an address of the scheme, with valid percent-encoding. */
export function isAddress(value: string, scheme: string): boolean {
  const single = withHostList(value);
  if (!value.toLowerCase().startsWith(`${scheme}://`) || !URL.canParse(single)) return false;
  const { username, password, pathname } = new URL(single);
  try {
    decodeURIComponent(username + password + pathname);
    return true;
  } catch {
    // An unencoded percent sign.
    return false;
  }
}

function isPort(value: unknown, least: number): boolean {
  if (typeof value !== 'number' || !Number.isInteger(value)) return false;
  return value === 0 || (value >= least && value <= 65_535);
}
