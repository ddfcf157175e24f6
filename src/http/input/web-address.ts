/** The check of an address of http or https, which may be that of an internal host. */
import { IsUrl } from 'class-validator';

export const IsWebAddress = (): PropertyDecorator =>
  IsUrl({
    require_tld: false,
    require_protocol: true,
    protocols: ['http', 'https'],
    // A user and password before the host can make a URL look like that of another site.
    disallow_auth: true,
  });
