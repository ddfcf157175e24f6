/** The request for a token to view a project as somebody else, and its response. */
import { ApiProperty } from '@nestjs/swagger';
import { IsIn, IsString } from 'class-validator';
import type { JsonObject } from '../../../common/text/json';
import { FREE_OBJECT, UUID_EXAMPLE } from '../../../http/docs/documented-types';
import { Example } from '../../../http/docs/example.decorator';
import { FreeJson } from '../../../http/input/free-json';
import { IsText } from '../../../identity/http/checks';
import { VIEW_IDENTITIES } from '../../views/view-token.service';
import { OptionalProperty } from '../../../http/input/optional-property.decorator';

@Example({ as: 'user', user_id: UUID_EXAMPLE })
export class ViewAsDto {
  @ApiProperty({ enum: VIEW_IDENTITIES, description: 'The identity of the token' })
  @IsIn(VIEW_IDENTITIES)
  as!: (typeof VIEW_IDENTITIES)[number];
  @OptionalProperty({ format: 'uuid', maxLength: 100, description: 'With `user`: the id of the user' })
  @IsString()
  @IsText({ max: 100 })
  user_id?: string;
  @OptionalProperty({
    ...FREE_OBJECT,
    description:
      'With `claims`: the claims of the token, such as `role` and `sub`. Claims about its lifetime, project and session are set by Plinth or dropped.',
  })
  @FreeJson()
  claims?: JsonObject;
}

@Example({
  access_token: 'eyJhbGciOiJIUzI1NiJ9.eyJyb2xlIjoiYW5vbiIsInJlYWRfb25seSI6dHJ1ZX0.c2lnbmF0dXJl',
  apikey: 'eyJhbGciOiJIUzI1NiJ9.eyJyb2xlIjoiYW5vbiJ9.c2lnbmF0dXJl',
  expires_at: '2026-01-01T08:00:00.000Z',
  read_only: true,
})
export class ViewTokenResponse {
  @ApiProperty({ description: 'For the Authorization header' }) readonly access_token!: string;
  @ApiProperty({ description: 'For the apikey header: the anon key of the project' })
  readonly apikey!: string;
  @ApiProperty({ type: String, format: 'date-time' }) readonly expires_at!: Date;
  @ApiProperty({ description: 'True: GET, HEAD and OPTIONS only' }) readonly read_only!: boolean;
}
