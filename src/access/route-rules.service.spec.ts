import { CanActivate, Controller, Get, Injectable, Module, Post, Type, UseGuards } from '@nestjs/common';
import { DiscoveryModule, NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Checks } from './access-rule';
import { PublicRoute } from './public-route.decorator';
import { RouteRules } from './route-rules.service';

class Open implements CanActivate {
  canActivate(): boolean {
    return true;
  }
}

@Injectable()
@Checks('apikey')
class KeyGuard extends Open {}

@Injectable()
@Checks('bearer')
class TokenGuard extends Open {}

@Injectable()
class RateGuard extends Open {}

/** An application with one controller, started by Nest. */
async function start(
  controller: Type,
  extend: (app: NestExpressApplication) => void = () => undefined,
): Promise<NestExpressApplication> {
  @Module({ imports: [DiscoveryModule], controllers: [controller], providers: [RouteRules] })
  class TestModule {}
  const app = await NestFactory.create<NestExpressApplication>(TestModule, {
    logger: false,
    abortOnError: false,
  });
  extend(app);
  return app.init();
}

it('derives the rule of each route from the guards of its controller and its method', async () => {
  @Controller(['a', 'b/:id'])
  @UseGuards(KeyGuard)
  class Guarded {
    @Get()
    list(): void {}

    @Post(['x', 'y'])
    @UseGuards(TokenGuard, RateGuard)
    create(): void {}
  }
  const app = await start(Guarded);
  const rules = app.get(RouteRules).all();
  expect(rules.map(({ method, path, rule }) => `${method} ${path}: ${rule}`)).toEqual([
    'GET /a: apikey',
    'GET /b/:id: apikey',
    'POST /a/x: bearer',
    'POST /a/y: bearer',
    'POST /b/:id/x: bearer',
    'POST /b/:id/y: bearer',
  ]);
});

it('returns the reason why a route is public', async () => {
  @Controller('a')
  class Published {
    @Get()
    @UseGuards(RateGuard)
    @PublicRoute('probes carry no credentials')
    probe(): void {}
  }
  const app = await start(Published);
  expect(app.get(RouteRules).all()).toEqual([
    { method: 'GET', path: '/a', rule: 'public', reason: 'probes carry no credentials' },
  ]);
});

describe('the application does not start with', () => {
  it('a route that no guard protects', async () => {
    @Controller('a')
    class Forgotten {
      @Get('one')
      one(): void {}

      @Get('two')
      @UseGuards(RateGuard)
      two(): void {}
    }
    await expect(start(Forgotten)).rejects.toThrow(
      'Routes without an access rule:\n' +
        'GET /a/one (Forgotten): no guard checks a credential, and it is not a @PublicRoute\n' +
        'GET /a/two (Forgotten): no guard checks a credential, and it is not a @PublicRoute',
    );
  });

  it('a credential that is checked without its prerequisite', async () => {
    @Controller('a')
    class Reversed {
      @Get()
      @UseGuards(TokenGuard, KeyGuard)
      one(): void {}
    }
    await expect(start(Reversed)).rejects.toThrow('bearer is checked without apikey before it');
  });

  it('another guard before a guard that checks a credential', async () => {
    @Controller('a')
    @UseGuards(RateGuard)
    class Eager {
      @Get()
      @UseGuards(KeyGuard)
      one(): void {}
    }
    await expect(start(Eager)).rejects.toThrow('RateGuard comes before a guard that checks a credential');
  });

  it('a public route that checks a credential', async () => {
    @Controller('a')
    @UseGuards(KeyGuard)
    class Contradictory {
      @Get()
      @PublicRoute('nobody asks')
      one(): void {}
    }
    await expect(start(Contradictory)).rejects.toThrow('it is a @PublicRoute, and apikey is checked');
  });

  it('a route that belongs to no controller', async () => {
    @Controller('a')
    class Published {
      @Get()
      @PublicRoute('for the test')
      one(): void {}
    }
    const addRoute = (app: NestExpressApplication): void => {
      app.getHttpAdapter().get('/aside', () => undefined);
    };
    await expect(start(Published, addRoute)).rejects.toThrow('GET /aside: it belongs to no controller');
  });
});
