/** A member that may be left out; unlike IsOptional() it does not let null pass for that. */
import { ValidateIf } from 'class-validator';

export const Omittable = (): PropertyDecorator => ValidateIf((_object, value) => value !== undefined);
