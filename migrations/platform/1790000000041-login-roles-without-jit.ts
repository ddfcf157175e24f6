/**
 * Requests of projects from before DatabaseProvisioner turned JIT compilation off run without it, too. Where a role has a
 * setting of its own already, it stays; one that Plinth may not alter, or that is on another server, is left as it is.
 */
import { MigrationInterface, QueryRunner } from 'typeorm';

export class LoginRolesWithoutJit1790000000041 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      do $$ declare role text; begin
        for role in
          select login_role from projects join pg_roles on rolname = login_role
          where server_url is null and not exists (select from unnest(rolconfig) setting where setting like 'jit=%')
        loop
          begin
            execute format('alter role %I set jit = off', role);
          exception when insufficient_privilege then
            raise warning 'JIT compilation stays on for %: %', role, sqlerrm;
          end;
        end loop;
      end $$;
    `);
  }

  async down(): Promise<void> {
    // Roles of newer projects have the setting from their creation, and older releases run with it as well.
  }
}
