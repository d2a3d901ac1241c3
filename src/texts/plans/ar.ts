import type { PlanTexts } from '../plans.ts';

export const ar: PlanTexts<'ar'> = {
  planMail: {
    subject: '{merchant} يطلب منك {amount}',
    testSubject: 'اختبار: {merchant} يطلب منك {amount}',
    asks: '{merchant} يطلب منك {amount}',
    test: 'هذا اختبار. لا تستحق عليك أي أموال حقيقية.',
    amount: 'المبلغ',
    until: 'يُدفع حتى',
    payTo: 'إلى',
    pay: 'عرض ودفع',
    linkRest: 'عرض ودفع: {link}',
    why: 'يرسل إليك {merchant} رابط دفع في كل موعد متفق عليه. إن لم تتعرف على هذا الطلب فلا تدفع. لا تُقرأ الردود على هذه الرسالة.',
    for: 'الغرض',
    unexpected: 'ألم تكن تتوقع هذا؟ أخبر {merchant}.',
    stop: 'إيقاف هذه الرسائل',
  },
  planStop: {
    title: 'هل تريد إيقاف هذه الرسائل؟',
    asked: 'يرسل إليك {merchant} رابط دفع عن «{plan}» في كل موعد.',
    rest: 'لن تصلك رسائل أخرى عن هذه الخطة. أما الخطة نفسها فتستمر: لإنهائها أخبر {merchant}.',
    done: 'تم إلغاء اشتراكك',
    doneRest: 'لن تصلك رسائل أخرى عن هذه الخطة، ويرى {merchant} ذلك. تستمر الخطة نفسها حتى ينهيها {merchant}.',
  },
};
