/** Bodies of moves of projects between servers. */
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, IsOptional, IsString } from 'class-validator';
import { Example } from '../../../http/docs/example.decorator';

@Example({ server: 'db2' })
export class MoveProjectDto {
  @ApiProperty({ example: 'db2', description: 'Name of a server, whatever its status and capacity' })
  @IsString()
  server!: string;

  @ApiPropertyOptional({
    description: 'Writes may be refused for as long as the copy takes, also for more than five seconds',
  })
  @IsOptional()
  @IsBoolean()
  read_only_window?: boolean;

  @ApiPropertyOptional({ description: 'Keep the old database on its server; it accepts no connections' })
  @IsOptional()
  @IsBoolean()
  keep?: boolean;
}
