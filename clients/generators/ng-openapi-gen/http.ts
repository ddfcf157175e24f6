/** Angular's HttpClient over fetch(), in the injector of an application without components, so that no DOM is needed. */
import {
  HttpClient,
  HttpContextToken,
  provideHttpClient,
  withFetch,
  withInterceptors,
  withNoXsrfProtection,
} from '@angular/common/http';
import {
  createEnvironmentInjector,
  type EnvironmentInjector,
  platformCore,
  provideZonelessChangeDetection,
  ɵINJECTOR_SCOPE as INJECTOR_SCOPE,
} from '@angular/core';

/** The headers that a request sends. */
export const HEADERS = new HttpContextToken<Record<string, string>>(() => ({}));

const injector = createEnvironmentInjector(
  [
    { provide: INJECTOR_SCOPE, useValue: 'root' },
    provideZonelessChangeDetection(),
    provideHttpClient(
      withFetch(),
      withNoXsrfProtection(),
      withInterceptors([
        (request, next) => next(request.clone({ setHeaders: request.context.get(HEADERS) })),
      ]),
    ),
  ],
  platformCore().injector as EnvironmentInjector,
);

export const httpClient = injector.get(HttpClient);
