/** Marks the parameter of a handler that is its body or query string, so that its DTO can be documented. */
import 'reflect-metadata';

export const INPUT = Symbol('input of a handler');

export interface InputParameter {
  readonly kind: 'body' | 'query';
  readonly index: number;
}

/** @param decorator makes the value of the parameter */
export function inputParameter(
  kind: InputParameter['kind'],
  decorator: ParameterDecorator,
): ParameterDecorator {
  return (target, name, index) => {
    decorator(target, name, index);
    if (name === undefined) return;
    const others = (Reflect.getMetadata(INPUT, target, name) as InputParameter[] | undefined) ?? [];
    Reflect.defineMetadata(INPUT, [...others, { kind, index }], target, name);
  };
}
