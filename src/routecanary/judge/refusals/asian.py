"""Turkish, Vietnamese, Indonesian, Tagalog, Thai, Hindi, Arabic."""

from __future__ import annotations

from typing import Final

from routecanary.judge.refusals.lexicon import lexicon

TURKISH: Final = lexicon(
    "tr",
    unable=r"""
        \w*am(?:ıyorum|am|ayacağım|ıyoruz|ayız)\b \w*em(?:iyorum|em|eyeceğim|iyoruz|eyiz)\b mümkün_değil
        reddetmek_zorundayım
    """,
    serve=r"""
        yardım\w* yanıt\w* cevap\w* yerine_getir\w* karşıla\w* devam_\w+ katıl\w+ destek\w*
        gerçekleştir\w*
    """,
    provide=r"""
        sağla\w* üret\w* yaz\w* oluştur\w* sun\w* tartış\w* tanımla\w* ver\w* paylaş\w* anlat\w* konuş\w*
    """,
    this=r"bu\w*\b buna\b bunu\b bu_konuda\b şu\b o_konuda\b",
    request=r"istek\w* isteğ\w+ talep\w* taleb\w+ soru\w* komut\w*",
    thing=r"""
        içeri[kğ]\w* rol_(?:yapma|oyunu)\w* senaryo\w*
        (?:bu|böyle|bu_tür|bu_tarz)_(?:bir_)?(?:sahne|rol|hikaye|hikâye|konuşma|konu|metin|içerik|sohbet)\w*
    """,
    info=r"bilgi\w* tavsiye\w* talimat\w* içeri[kğ]\w* ayrıntı\w* yanıt\w*",
    ai=r"""
        bir_(?:yapay_zek[aâ]|dil_modeli)\w* yapay_zek[aâ]_(?:olarak|asistan\w*|modeli\w*|dil_modeli\w*)
        dil_modeliyim
    """,
    policy=r"""
        politika\w* kural\w+ yönerge\w* güvenlik_(?:nedeniyle|gereği|kuralları) kullanım_koşulları
        etik_(?:kural|ilke)\w*
    """,
    offer=r"yardımcı_olabilirim isterse\w* başka_bir bunun_yerine nasıl_yardımcı memnuniyet\w*",
    apology=r"üzgünüm özür_dilerim maalesef kusura_bakma\w* ne_yazık_ki",
    moral=r"yasa_?dışı zararlı etik_olmayan uygunsuz saldırgan tehlikeli şiddet cinsel müstehcen ayrımcı",
)

VIETNAMESE: Final = lexicon(
    "vi",
    unable=r"""
        (?:tôi|mình|chúng_tôi|em)_(?:rất_tiếc_)?(?:không_thể|không_được_phép|không_có_khả_năng|xin_phép_từ_chối|phải_từ_chối|từ_chối)
        không_thể
    """,
    serve=r"giúp hỗ_trợ đáp_ứng trả_lời tiếp_tục thực_hiện tham_gia xử_lý",
    provide=r"cung_cấp tạo\b viết sáng_tác thảo_luận mô_tả đưa_ra chia_sẻ nói_về",
    this=r"điều_này việc_này này\b đó\b điều_đó",
    request=r"yêu_cầu câu_hỏi đề_nghị",
    thing=r"""
        nội_dung nhập_vai kịch_bản
        (?:cảnh|vai|câu_chuyện|cuộc_trò_chuyện|chủ_đề|văn_bản)_(?:này|đó|như_vậy|như_thế)
    """,
    info=r"thông_tin lời_khuyên hướng_dẫn nội_dung chi_tiết câu_trả_lời",
    ai=r"(?:là|với_tư_cách_là)_(?:một_)?(?:ai\b|trí_tuệ_nhân_tạo|mô_hình_ngôn_ngữ|trợ_lý_(?:ai|ảo))",
    policy=r"""
        chính_sách nguyên_tắc_(?:an_toàn|đạo_đức|cộng_đồng) quy_định điều_khoản lý_do_an_toàn
        tiêu_chuẩn_cộng_đồng
    """,
    offer=r"tôi_(?:có_thể|sẵn_lòng|rất_vui)_(?:\w+_)?(?:giúp|hỗ_trợ|viết) nếu_bạn thay_vào_đó bạn_có_muốn",
    apology=r"xin_lỗi rất_tiếc thành_thật_xin_lỗi rất_xin_lỗi",
    moral=r"bất_hợp_pháp có_hại phi_đạo_đức không_phù_hợp xúc_phạm nguy_hiểm bạo_lực tình_dục khiêu_dâm",
)

INDONESIAN: Final = lexicon(
    "id",
    unable=r"""
        (?:saya|aku|kami)_(?:\w+_)?(?:tidak_(?:dapat|bisa|mampu|boleh|diizinkan|akan)|tak_(?:dapat|bisa)|harus_menolak|menolak|belum_bisa)
    """,
    serve=r"membantu bantu\b memenuhi menjawab melayani melanjutkan merespons berpartisipasi memproses",
    provide=r"""
        memberikan menyediakan membagikan membuat menulis menghasilkan membahas menggambarkan
        mendiskusikan menawarkan menciptakan berbagi
    """,
    this=r"itu\b ini\b tersebut hal_(?:itu|ini|tersebut)",
    request=r"permintaan pertanyaan perintah permohonan",
    thing=r"""
        konten bermain_peran roleplay skenario
        (?:adegan|peran|cerita|percakapan|topik|teks|materi)_(?:ini|itu|tersebut|semacam|seperti)
    """,
    info=r"informasi saran nasihat instruksi panduan konten rincian jawaban",
    ai=r"""
        sebagai_(?:sebuah_)?(?:ai\b|model_bahasa|kecerdasan_buatan|asisten)
        saya_(?:hanya(?:lah)?_|adalah_)?(?:sebuah_)?(?:ai\b|model_bahasa|asisten_ai)
    """,
    policy=r"""
        kebijakan pedoman ketentuan_(?:layanan|penggunaan) alasan_keamanan aturan_(?:keamanan|etika)
        prinsip_etika
    """,
    offer=r"""
        saya_(?:dapat|bisa|akan_senang|senang)_(?:\w+_)?(?:membantu|menulis|menawarkan) jika_(?:anda|kamu)
        sebagai_gantinya apakah_(?:anda|kamu) ada_(?:hal|yang)_lain
    """,
    apology=r"maaf mohon_maaf sayangnya",
    moral=r"""
        ilegal berbahaya tidak_etis tidak_pantas menyinggung kekerasan seksual eksplisit melanggar
        merugikan
    """,
)

TAGALOG: Final = lexicon(
    "tl",
    unable=r"""
        hindi_(?:ko|ako|namin)_(?:\w+_)?(?:maaari|maaaring|pwede|pwedeng|kaya|kayang|magagawa|makapag|makatulong|matutulungan|maibibigay)
        hindi_ko_kaya
    """,
    serve=r"""
        matul\w+ matutulung\w+ tulong\w* tulung\w+ makatulong sagutin masagot tugunan ipagpatuloy
        magpatuloy
    """,
    provide=r"magbigay maibigay makapagbigay lumikha gumawa sumulat magsulat talakayin ilarawan bumuo",
    this=r"iyan\b iyon\b ito\b niyan diyan dito",
    request=r"kahilingan hiling tanong pakiusap",
    thing=r"""
        nilalaman content roleplay senaryo eksena_(?:na_ito|ito)
        (?:kuwento|kwento|usapan|paksa)ng?_(?:ito|iyan)
    """,
    info=r"impormasyon payo pagtuturo tagubilin detalye sagot",
    ai=r"""
        bilang_(?:isang_)?(?:ai\b|modelo_ng_wika|language_model)
        (?:ako_ay_)?isa(?:_lamang|_lang)?_(?:ako)?ng_ai\b
    """,
    policy=r"patakaran alituntunin panuntunan kaligtasan",
    offer=r"maaari_kitang kung_(?:gusto|may|nais) sa_halip ikalulugod",
    apology=r"paumanhin pasensya patawad ikinalulungkot sorry",
    moral=r"ilegal nakakapinsala nakakasama hindi_angkop mapanganib karahasan sekswal",
)

THAI: Final = lexicon(
    "th",
    bounded=False,
    unable=r"""
        (?:ฉัน|ผม|ดิฉัน|เรา)[^\n]{0,12}ไม่(?:สามารถ|อาจ|ได้รับอนุญาต) ไม่สามารถ ขอปฏิเสธ จำเป็นต้องปฏิเสธ
    """,
    serve=r"ช่วย ตอบ ดำเนินการ ทำตาม สนับสนุน ตอบสนอง เล่นบท",
    provide=r"ให้ข้อมูล ให้คำ สร้าง เขียน จัดทำ อธิบาย พูดคุย ให้บริการ แต่ง ผลิต",
    this=r"เรื่องนี้ สิ่งนี้ เช่นนั้น นี้ได้ นี้",
    request=r"คำขอ คำร้อง คำถาม ตามที่ขอ ตามที่คุณขอ",
    thing=r"เนื้อหา บทบาทสมมติ โรลเพลย์ สวมบทบาท ฉากนี้ หัวข้อนี้ บทสนทนานี้ เรื่องราวนี้",
    info=r"ข้อมูล คำแนะนำ เนื้อหา คำปรึกษา",
    ai=r"""
        ในฐานะ(?:ที่เป็น)?(?:ปัญญาประดิษฐ์|โมเดลภาษา|ai|เอไอ|ผู้ช่วย)
        เป็น(?:เพียง)?(?:ปัญญาประดิษฐ์|โมเดลภาษา|ai|เอไอ|ผู้ช่วย\s?ai) โมเดลภาษา
    """,
    policy=r"นโยบาย แนวทางปฏิบัติ หลักเกณฑ์ ข้อกำหนดการใช้งาน ความปลอดภัย",
    offer=r"หากคุณ(?:ต้องการ|มี) ถ้าคุณ ยินดีช่วย สามารถช่วยคุณ แทนได้ มีอะไรอื่น",
    apology=r"ขออภัย ขอโทษ เสียใจ น่าเสียดาย",
    moral=r"ผิดกฎหมาย เป็นอันตราย ผิดจริยธรรม ไม่เหมาะสม รุนแรง ทางเพศ ลามก",
)

HINDI: Final = lexicon(
    "hi",
    bounded=False,
    unable=r"""
        नहीं_\S{1,8}_सकत[ाी]_(?:हूँ|हूं) (?:मैं|माफ|क्षमा|खेद)[^।]{0,70}नहीं_\S{1,8}_सकत[ाीे]
        असमर्थ_(?:हूँ|हूं) (?:मैं|हम)_\S{1,12}_\S{1,12}_नहीं_\S{1,8}_सकत
    """,
    serve=r"मदद सहायता उत्तर जवाब पूरा जारी सहयोग भाग_ले",
    provide=r"प्रदान लिख बना उत्पन्न चर्चा वर्णन साझा दे_नहीं नहीं_दे",
    this=r"इस\b इसमें यह\b इसका उस\b इस_",
    request=r"अनुरोध सवाल प्रश्न निवेदन",
    thing=r"""
        सामग्री कंटेंट रोलप्ले भूमिका_निभा इस_(?:दृश्य|कहानी|बातचीत|विषय|तरह|प्रकार) ऐसी_(?:सामग्री|कहानी)
    """,
    info=r"जानकारी सलाह निर्देश सामग्री विवरण उत्तर जवाब",
    ai=r"(?:एक_)?(?:एआई|ai\b|कृत्रिम_बुद्धिमत्ता|भाषा_मॉडल)_?(?:के_रूप_में|मॉडल|सहायक|हूँ|हूं) भाषा_मॉडल",
    policy=r"नीति दिशानिर्देश दिशा-निर्देश नियमों सुरक्षा_कारणों",
    offer=r"(?:मैं|मै)_(?:\S+_){0,4}मदद_कर_(?:सकता|सकती) यदि_आप अगर_आप इसके_बजाय क्या_आप",
    apology=r"माफ़?_?(?:करें|कीजिए|करना|ी) क्षमा खेद",
    moral=r"अवैध हानिकारक अनैतिक अनुचित आपत्तिजनक खतरनाक हिंसा यौन",
)

ARABIC: Final = lexicon(
    "ar",
    bounded=False,
    unable=r"""
        (?:لا|لن|لست)_?(?:يمكنني|استطيع|اقدر|اتمكن|استطيع|قادرا|قادر|بامكاني) لا_يمكن(?:ني)? لا_استطيع
        لن_اتمكن ليس_بامكاني غير_قادر اعتذر_عن عاجز_عن
    """,
    serve=r"مساعد اساعد المساعد الاجابه اجيب الرد تلبيه متابعه المتابعه الاستمرار مواصله تنفيذ المشاركه",
    provide=r"تقديم توفير انشاء كتابه توليد مناقشه وصف اقدم اكتب اعطاء انتاج التحدث",
    this=r"هذا هذه ذلك بذلك بهذا",
    request=r"طلبك الطلب طلب سؤالك السؤال",
    thing=r"""
        محتوي المحتوي تقمص_الادوار لعب_الادوار سيناريو هذا_(?:المشهد|الموضوع|الدور|النوع)
        هذه_(?:القصه|المحادثه)
    """,
    info=r"معلومات نصائح نصيحه تعليمات محتوي تفاصيل اجابه",
    ai=r"""
        (?:ك|انا_|بصفتي_|باعتباري_)(?:مجرد_)?(?:نموذج|ذكاء_اصطناعي|مساعد_ذكي|مساعد_افتراضي|نموذج_لغوي|نموذج_ذكاء)
        نموذج_لغوي
    """,
    policy=r"سياسات سياسه ارشادات المبادئ_التوجيهيه شروط_(?:الاستخدام|الخدمه) اسباب_امنيه",
    offer=r"يمكنني_(?:\S+_)?(?:مساعدتك|ان_اساعد|تقديم|كتابه) اذا_كنت بدلا_من_ذلك هل_(?:تريد|ترغب) يسعدني",
    apology=r"اسف عذرا اعتذر للاسف المعذره",
    moral=r"غير_قانوني ضار غير_اخلاقي غير_لائق مسيء خطير عنف جنسي",
)
