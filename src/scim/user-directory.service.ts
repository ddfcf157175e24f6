/**
 * Users of a project as a directory provisions them. An administrator has connected the directory, so its
 * addresses count as proved.
 */
import { Injectable } from '@nestjs/common';
import { isBanned, type Account } from '../auth/accounts/account';
import { AccountRepository } from '../auth/accounts/account.repository';
import { AdminUsersService, type UserInput } from '../auth/admin/admin-users.service';
import { AdminUsersRepository } from '../auth/admin/admin-users.repository';
import { emailTaken } from '../auth/auth.errors';
import { AppError } from '../common/errors/app-error';
import { Clock } from '../common/time/clock';
import type { Project } from '../projects/project';
import type { ScimDirectory } from './scim-directory';
import type { ScimChange, ScimPerson } from './scim-people';
import { scimPersonExists } from './scim.errors';
import { UserGroupRepository } from './user-group.repository';

/** A hundred years in milliseconds. */
const FOREVER_MS = 100 * 365 * 86_400_000;

@Injectable()
export class UserDirectories {
  constructor(
    private readonly users: AdminUsersService,
    private readonly rows: AdminUsersRepository,
    private readonly accounts: AccountRepository,
    private readonly groups: UserGroupRepository,
    private readonly clock: Clock,
  ) {}

  of(project: Project): ScimDirectory {
    const person = (account: Account): ScimPerson => this.toPerson(account);
    return {
      groups: this.groups.tables(project),
      changeGroup: (work, origin) => this.groups.change({ project, origin }, work),
      find: async (id) => {
        const account = await this.rows.find(project, id);
        return account && person(account);
      },
      findByEmail: async (key) => {
        const found = await this.accounts.findCredentials(project, key);
        return found && person(found.account);
      },
      list: async ({ offset, limit }) => {
        const order = { search: null, sort: 'created_at', descending: false } as const;
        const { total, accounts } = await this.rows.list(project, { ...order, offset, limit });
        return { total, people: accounts.map(person) };
      },
      create: async ({ email, ...change }, origin) =>
        person(
          await refusingTaken(
            this.users.create({ project, origin }, { ...this.toInput(change), email, emailVerified: true }),
          ),
        ),
      updatePerson: async (id, { email, ...change }, origin) => {
        const address = email === undefined ? {} : { email, emailVerified: true };
        const input = { ...this.toInput(change), ...address };
        return person(await refusingTaken(this.users.updateUser({ project, origin }, id, input)));
      },
      remove: (id, origin) => this.users.remove({ project, origin }, id),
    };
  }

  private toInput({ name, isActive }: ScimChange): UserInput {
    const ban = isActive === false ? new Date(this.clock.now() + FOREVER_MS) : null;
    return {
      ...(name === undefined ? {} : { name }),
      ...(isActive === undefined ? {} : { bannedUntil: ban }),
    };
  }

  private toPerson(account: Account): ScimPerson {
    const { id, email, name, createdAt } = account;
    return {
      id,
      email: email === '' ? id : email,
      name,
      isActive: !isBanned(account, this.clock.now()),
      createdAt,
    };
  }
}

async function refusingTaken<T>(change: Promise<T>): Promise<T> {
  return change.catch((error: unknown) => {
    throw error instanceof AppError && error.code === emailTaken().code ? scimPersonExists() : error;
  });
}
