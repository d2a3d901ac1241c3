import type { PlanTexts } from '../plans.ts';

export const ar: PlanTexts<'ar'> = {
  planMail: {
    subject: '{merchant} يطلب منك {amount}',
    testSubject: 'اختبار: {merchant} يطلب منك {amount}',
    asks: '{merchant} يطلب منك {amount}',
    test: 'هذا اختبار: لا يُطلب أي مال حقيقي.',
    amount: 'المبلغ',
    until: 'يُدفع حتى',
    payTo: 'إلى',
    pay: 'عرض ودفع',
    linkRest: 'اعرضه وادفع هنا: {link}',
    why: 'يرسل إليك {merchant} رابط دفع في كل موعد متفق عليه. إن لم تكن تعلم بذلك فلا تدفع. لا أحد يقرأ الردود على هذه الرسالة.',
    for: 'مقابل',
    unexpected: 'ألم تكن تتوقع هذه الرسالة؟ أخبر {merchant}.',
    stop: 'إيقاف هذه الرسائل',
  },
  planStop: {
    title: 'هل تريد إيقاف هذه الرسائل؟',
    asked: 'يرسل إليك {merchant} رابط دفع مقابل «{plan}» في كل موعد.',
    rest: 'بعد ذلك لا تصلك رسائل عنها. أما الخطة نفسها فتستمر: لإنهائها تواصل مع {merchant}.',
    done: 'أُوقفت الرسائل',
    doneRest: 'لن تصلك رسائل أخرى عن هذه الخطة، ويرى {merchant} ذلك. تستمر الخطة نفسها حتى ينهيها {merchant}.',
  },
};
