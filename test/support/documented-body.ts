/** Types of response bodies, from the console's generated types of the platform's OpenAPI document. */
import type { paths } from '../../console/src/generated/openapi.js' with { 'resolution-mode': 'import' };

/** Maps the literal type `/admin/v1/projects/{id}/keys` to the template type `/admin/v1/projects/${string}/keys`. */
type Pattern<Path extends string> = Path extends `${infer Head}{${string}}${infer Tail}`
  ? `${Head}${string}${Pattern<Tail>}`
  : Path;
/** Excludes the paths of rows: rows of any table have any type. */
type Typed = Exclude<keyof paths, `/rest/v1/${string}` | `${string}/sql`>;
type Patterns = { [Path in Typed]: Pattern<Path> };

type WithoutQuery<Path extends string> = Path extends `${infer Head}?${string}` ? Head : Path;

/** The documented path that a literal path is an instance of; never for paths that are known at run time only. */
type Documented<Path extends string> = {
  [Key in Typed]: Path extends Patterns[Key] ? (Patterns[Key] extends Path ? Key : never) : never;
}[Typed];

type Success<Operation> = Operation extends { responses: infer Responses }
  ? {
      [Status in keyof Responses]: Status extends 200 | 201 | 202
        ? Responses[Status] extends { content: { 'application/json': infer Body } }
          ? Body
          : never
        : never;
    }[keyof Responses]
  : never;

type AnyBody = any; // oxlint-disable-line typescript/no-explicit-any -- answers that no type describes

/** Members of an error, which tests read from the response to a refused request. */
type Refusal = { readonly [Name in 'error' | 'message' | 'code' | 'detail' | 'status_code']?: AnyBody };

type BodyOf<Method extends string, Key extends keyof paths> = Success<
  Method extends keyof paths[Key] ? paths[Key][Method] : never
>;

/**
 * Makes nullable members non-null, because a test knows which members are null. The envelope of storage has
 * an error, which is null in a success.
 */
type Known<Body> = Body extends readonly unknown[]
  ? Body
  : { [Name in keyof Body as Exclude<Name, 'error'>]: NonNullable<Body[Name]> };

/** The body of a success, with the members of an error; any value if the document does not know the path. */
export type DocumentedBody<Method extends string, Path extends string> = string extends Path
  ? AnyBody
  : [Documented<WithoutQuery<Path>>] extends [never]
    ? AnyBody
    : [BodyOf<Method, Documented<WithoutQuery<Path>>>] extends [never]
      ? AnyBody
      : Known<BodyOf<Method, Documented<WithoutQuery<Path>>>> & Refusal;
