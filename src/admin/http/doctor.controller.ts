/** Platform administration: checks of the install and what it depends on. */
import { Controller, HttpCode, Post } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiPropertyOptional, ApiResponse } from '@nestjs/swagger';
import { IsEmail, IsOptional } from 'class-validator';
import { StrictBody } from '../../http/input/strict-input.decorator';
import { DoctorReport } from '../admin-records';
import { DoctorService } from '../doctor/doctor.service';
import { PRODUCT } from '../../config/product';
import { AdminApi, INVALID } from './admin-api.decorator';

class DoctorDto {
  @ApiPropertyOptional({ description: 'Address that a test mail is sent to', example: 'admin@example.com' })
  @IsOptional()
  @IsEmail()
  mail_to?: string;
}

@AdminApi()
@Controller('admin/v1/doctor')
export class DoctorController {
  constructor(private readonly doctor: DoctorService) {}

  @Post()
  @HttpCode(200)
  @ApiOperation({
    summary: 'Check the install: database, disk, clock, Redis, storage, mail, PUBLIC_URL, TLS, projects',
    operationId: 'examineInstall',
  })
  @ApiBody({ type: DoctorDto, required: false })
  @ApiResponse({ status: 200, type: DoctorReport, description: 'The findings, failed ones included' })
  @ApiResponse(INVALID)
  async examine(@StrictBody() body: DoctorDto): Promise<DoctorReport> {
    const findings = await this.doctor.examine({ mailTo: body.mail_to ?? null });
    return { version: PRODUCT.version, now: new Date(), findings };
  }
}
