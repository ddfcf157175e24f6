/** Spanish. */
import { LanguageTexts, linkMail, noticeMail } from './language';

const GREETING = 'Hola, {{ name }}:';
const FRAME = {
  greeting: GREETING,
  enterToken: 'O introduzca este código donde se le pida:',
  validity: 'Es válido durante {{ hours }} hora{% if hours != 1 %}s{% endif %} y se puede usar una sola vez.',
};

export const SPANISH: LanguageTexts = {
  tag: 'es',
  mails: {
    reset: linkMail(FRAME, {
      subject: 'Restablezca su contraseña de {{ project }}',
      intro: 'Alguien, probablemente usted, ha pedido una contraseña nueva para su cuenta en {{ project }}.',
      open: 'Abra esta dirección para elegirla:',
      button: 'Elegir una contraseña nueva',
      end: 'Si no ha sido usted, ignore este mensaje: su contraseña no cambia.',
    }),
    verify: linkMail(FRAME, {
      subject: 'Confirme su dirección de correo para {{ project }}',
      intro: 'Confirme, por favor, que {{ email }} es su dirección.',
      open: 'Abra esta dirección para hacerlo:',
      button: 'Confirmar la dirección',
      end: 'Si no se ha registrado en {{ project }}, ignore este mensaje: otra persona eligió la contraseña de esa cuenta.',
    }),
    email_change: linkMail(FRAME, {
      subject: 'Confirme su nueva dirección de correo para {{ project }}',
      intro: 'Confirme, por favor, que {{ email }} será la nueva dirección de su cuenta en {{ project }}.',
      open: 'Abra esta dirección para hacerlo:',
      button: 'Confirmar la nueva dirección',
      end: 'Si no ha sido usted, ignore este mensaje: nada cambia.',
    }),
    email_change_notice: noticeMail(GREETING, 'Su dirección de correo en {{ project }} va a cambiar', [
      'La dirección de su cuenta en {{ project }} va a cambiar a {{ new_email }}.',
      'Si no ha sido usted, cambie su contraseña ahora mismo.',
    ]),
    invite: linkMail(FRAME, {
      subject: 'Invitación a {{ project }}',
      intro: 'Se ha creado una cuenta para usted en {{ project }}.',
      open: 'Abra esta dirección para elegir una contraseña:',
      button: 'Elegir una contraseña',
      end: 'Si no esperaba este mensaje, ignórelo.',
    }),
    magic_link: linkMail(FRAME, {
      subject: 'Iniciar sesión en {{ project }}',
      intro: 'Alguien, probablemente usted, quiere iniciar sesión en {{ project }} como {{ email }}.',
      open: 'Abra esta dirección para iniciar sesión:',
      button: 'Iniciar sesión',
      end: 'Si no fue usted, ignore este mensaje: nadie iniciará sesión.',
    }),
    new_device: noticeMail(GREETING, 'Un nuevo inicio de sesión en {{ project }}', [
      'Se ha iniciado sesión en su cuenta de {{ project }} desde un dispositivo desconocido.',
      'Hora: {{ signed_in_at }}',
      'Dirección: {{ ip }}',
      'Programa: {{ client }}',
      'Si no ha sido usted, cambie su contraseña ahora mismo.',
    ]),
    reauthentication: noticeMail(GREETING, 'Su código para {{ project }}', [
      'Su código para {{ project }} es {{ code }}.',
      'Si no lo ha pedido, cambie su contraseña ahora.',
    ]),
  },
  pages: {
    reset: {
      title: 'Elija una contraseña nueva',
      label: 'Contraseña nueva',
      button: 'Guardar la contraseña',
      done: 'Su contraseña se ha cambiado. Ya puede iniciar sesión con ella.',
    },
    verify: {
      title: 'Confirme su dirección de correo',
      label: 'Su contraseña: la del registro o una nueva',
      button: 'Confirmar',
      done: 'Su dirección de correo está confirmada.',
      noPassword:
        'Su dirección de correo está confirmada. La cuenta no tiene contraseña ahora: solicite una al iniciar sesión.',
    },
    link: {
      title: 'Vincular una cuenta',
      button: 'Vincular',
      done: 'La cuenta ha sido vinculada.',
    },
    signIn: {
      title: 'Iniciar sesión',
      button: 'Iniciar sesión',
      done: 'Ha iniciado sesión.',
    },
    invalidToken: 'Este enlace no es válido o ha caducado. Pida un mensaje nuevo.',
    tooShort: 'La contraseña debe tener al menos {min} caracteres.',
    tooLong: 'La contraseña es demasiado larga.',
    tooCommon: 'Esta contraseña es una de las más comunes. Elija otra.',
    failed: 'No ha funcionado. Inténtelo de nuevo en un momento.',
  },
};
