/** Bodies of moves of projects between servers. */
import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean, IsString } from 'class-validator';
import { Example } from '../../../http/docs/example.decorator';
import { OptionalProperty } from '../../../http/input/optional-property.decorator';

@Example({ server: 'db2' })
export class MoveProjectDto {
  @ApiProperty({ example: 'db2', description: 'Name of a server, whatever its status and capacity' })
  @IsString()
  server!: string;

  @OptionalProperty({
    description: 'Writes may be refused for as long as the copy takes, also for more than five seconds',
  })
  @IsBoolean()
  read_only_window?: boolean;

  @OptionalProperty({ description: 'Keep the old database on its server; it accepts no connections' })
  @IsBoolean()
  keep?: boolean;
}
