import { CanActivate, Controller, Get, Module, UseGuards } from '@nestjs/common';
import { DiscoveryModule, NestFactory } from '@nestjs/core';
import { Checks } from '../../access/access-rule';
import { RouteRules } from '../../access/route-rules.service';
import { RouteTableCheck } from './route-table-check.service';

@Checks('staff')
class Open implements CanActivate {
  canActivate(): boolean {
    return true;
  }
}

@UseGuards(Open)
@Controller('admin/v1')
class AdminController {
  @Get('people')
  known(): void {}

  @Get('projects/:id/forgotten')
  forgotten(): void {}
}

@Module({
  imports: [DiscoveryModule],
  controllers: [AdminController],
  providers: [RouteRules, RouteTableCheck],
})
class TestModule {}

it('prevents the start of an application with an admin route that has no row', async () => {
  const app = await NestFactory.create(TestModule, { logger: false, abortOnError: false });
  await expect(app.init()).rejects.toThrow(/route-table\.ts:\nGET \/admin\/v1\/projects\/:id\/forgotten$/);
  await app.close();
});
