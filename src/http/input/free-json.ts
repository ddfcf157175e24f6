/**
 * Members of bodies that hold any JSON of the sender. class-transformer copies a body without members that are named like
 * `constructor` or `toString`, at every level: these members bypass it.
 */
import 'reflect-metadata';
import { applyDecorators, ArgumentMetadata, Injectable, ValidationPipe } from '@nestjs/common';
import { IsObject } from 'class-validator';
import { isJsonObject, isTooLargeToCheck } from '../../common/text/json';
import { bodyTooLargeToCheck } from '../bodies/body.errors';

const MEMBERS = Symbol('members of free JSON');

/** An object that is taken unchanged. */
export const FreeJson = (): PropertyDecorator => applyDecorators(IsObject(), register);

const register: PropertyDecorator = ({ constructor }, name) =>
  Reflect.defineMetadata(MEMBERS, [...membersOf(constructor), String(name)], constructor);

function membersOf(type: object | undefined): readonly string[] {
  return type ? ((Reflect.getMetadata(MEMBERS, type) as string[] | undefined) ?? []) : [];
}

@Injectable()
export class BodyPipe extends ValidationPipe {
  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    if (!isJsonObject(value)) return this.checked(value, metadata);
    const members = membersOf(metadata.metatype).filter((name) => isJsonObject(value[name]));
    if (members.length === 0) return this.checked(value, metadata);
    const emptied = { ...value, ...Object.fromEntries(members.map((name) => [name, {}])) };
    const valid = (await this.checked(emptied, metadata)) as object;
    return Object.assign(valid, Object.fromEntries(members.map((name) => [name, value[name]])));
  }

  private checked(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    // A body without a class is passed on as it is.
    const isChecked = metadata.metatype !== undefined && this.toValidate(metadata);
    if (isChecked && isTooLargeToCheck(value)) throw bodyTooLargeToCheck();
    return super.transform(value, metadata);
  }
}
