/** A member that may be omitted. Unlike IsOptional() it does not accept null. */
import { ValidateIf } from 'class-validator';

export const Omittable = (): PropertyDecorator => ValidateIf((_object, value) => value !== undefined);
