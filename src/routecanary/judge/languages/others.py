"""Turkish, Vietnamese, Indonesian (with Malay), Tagalog; Finnish and Hungarian as languages to slide into."""

from __future__ import annotations

from typing import Final

from routecanary.judge.languages.table import language

TURKISH: Final = language(
    "tr",
    letters="çğıöşüâîû",
    signs=r"(?:lar|ler|ları|leri|ların|lerin|dan|den|tan|ten|yor|yordu|mış|miş|muş|müş|dı|di|du|dü|ti|tı|lık|lik|nın|nin)$|[ğış]",
    common="""
    bir ve ile için gibi kadar daha çok az en bu şu o bunu şunu onu buna ona bunun onun bunlar onlar
    ben sen biz siz beni seni bizi sizi bana sana bize size benim senin bizim sizin kendi kendini
    kendine ne kim nerede nasıl neden niçin hangi kaç ki da de ya veya ama fakat ancak çünkü eğer
    değil yok var evet hayır hiç hep her bütün tüm bazı başka aynı şey şeyi şeyler sonra önce şimdi
    artık hemen yine gene bile sadece yalnızca belki zaten henüz hâlâ hala içinde üzerinde altında
    üstünde yanında arasında karşı doğru göre beri dek oldu olan olarak olduğu olduğunu olmak olur
    olmuştu idi ise iken dedi diye diyor söyledi sordu cevap verdi baktı bakıyordu gördü geldi gitti
    aldı yaptı etti ediyor eden eder etmek çıktı girdi kaldı durdu başladı bıraktı tuttu düştü açtı
    kapadı biliyor istiyor gerek lazım göz gözleri gözlerini ses sesi el eli elini elleri baş başını
    yüz yüzü gün gece sabah akşam bugün dün yarın adam kadın çocuk kız oğlan oğul anne baba kardeş
    arkadaş insan insanlar ev kapı pencere sokak şehir dünya hayat zaman yıl saat yer su ateş ışık
    gök deniz nehir taş yol iki üç dört beş altı yedi sekiz dokuz on ilk son yeni eski büyük küçük
    iyi kötü uzun kısa güzel uzak yakın yavaşça sessizce birden birlikte lütfen teşekkür merhaba
    kalp sessizlik gölge rüzgar rüzgâr yağmur
    """,
)

VIETNAMESE: Final = language(
    "vi",
    letters="àáâãèéêìíòóôõùúýăđĩũơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ",
    signs=r"[ăđơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ]",
    common="""
    và của là có không được cho với trong trên dưới ngoài từ đến tới vào ra lên xuống qua lại về tại
    bởi vì nên nhưng mà hay hoặc nếu thì khi lúc sau trước giữa bên cạnh một hai ba bốn năm sáu bảy
    tám chín mười những các mỗi mọi nhiều ít này kia đó ấy đây gì ai nào đâu sao thế như cũng đã
    đang sẽ vẫn còn chỉ rất quá lắm hơn nhất cùng tôi anh chị em ông bà cô chú bác cậu mình ta chúng
    họ hắn nó người con cái chiếc ngôi việc điều chuyện ngày đêm sáng chiều tối giờ năm tháng hôm
    nay qua mai nói hỏi đáp nhìn thấy nghe biết muốn phải cần làm đi đứng ngồi nằm chạy cầm đưa lấy
    đặt mở đóng mắt tay đầu mặt giọng nhà cửa phố thành thế giới đời đất nước lửa ánh trời biển sông
    đá đường mới cũ lớn nhỏ tốt xấu dài ngắn xa gần chậm khẽ bỗng rồi xin cảm ơn lòng bóng gió mưa
    gỗ
    """,
)

INDONESIAN: Final = language(
    "id",
    letters="é",
    signs=r"(?:nya|kan|lah|kah)$|^(?:ber|mem|men|meng|peng|ter)[a-z]{3,}|^di[a-z]{4,}(?:kan|i)$|ng[gk]",
    common="""
    yang dan di ke dari untuk dengan pada dalam oleh tentang sebagai seperti antara tanpa hingga
    sampai sejak atau tetapi tapi namun karena sebab jika kalau ketika saat bila agar supaya
    sehingga maka lalu kemudian setelah sebelum sambil bahwa ini itu tersebut sini situ sana saya
    aku kamu anda dia ia kami kita mereka beliau kau engkau nya ku mu siapa apa mana kapan bagaimana
    mengapa berapa tidak tak bukan belum jangan sudah telah sedang akan masih lagi juga saja hanya
    pun sangat sekali lebih paling kurang banyak sedikit semua setiap para beberapa seorang sebuah
    seekor satu dua tiga empat lima enam tujuh delapan sembilan sepuluh ada adalah ialah menjadi
    bisa dapat boleh harus mau ingin perlu kata berkata tanya bertanya jawab menjawab melihat lihat
    dengar mendengar tahu datang pergi pulang masuk keluar duduk berdiri berjalan mengambil membawa
    membuat memberi membuka menutup mata suara tangan kepala wajah hari malam pagi sore siang
    kemarin besok sekarang nanti orang lelaki perempuan anak laki ibu bapak ayah kakak adik teman
    rumah pintu jendela jalan kota dunia hidup waktu tahun jam tanah air api cahaya langit laut
    sungai batu baru lama besar kecil baik buruk panjang pendek jauh dekat perlahan tiba bersama
    hampir terima kasih hati bayangan angin hujan kayu awak boleh kerana ialah sahaja beliau cuba
    iaitu
    """,
)

TAGALOG: Final = language(
    "tl",
    letters="áàâéêíîóôúûñ",
    signs=r"^(?:nag|mag|pag|nang|ipinag|pinag|naka|maka|paki)[a-z]{3,}|^[kmnpst]in?um?a|^mga$|-[a-z]",
    common="""
    ang ng sa mga na ay at o si ni kay sina nina para kung kapag nang dahil sapagkat pero ngunit
    subalit upang habang hanggang mula tungkol ako ikaw ka siya tayo kami kayo sila ko mo niya natin
    namin ninyo nila akin iyo kanya atin amin inyo kanila ito iyan iyon dito diyan doon nito niyan
    noon ano sino saan kailan paano bakit alin ilan hindi huwag oo wala walang may mayroon meron din
    rin pa lang lamang naman nga ba po daw raw muna ulit muli lahat bawat iba ibang isa isang dalawa
    dalawang tatlo tatlong apat lima marami maraming kaunti sobra napaka mas pinaka gusto kailangan
    dapat puwede pwede maaari sinabi wika sabi tanong sagot tumingin nakita narinig alam dumating
    umalis pumasok lumabas umupo tumayo naglakad kumuha dinala ginawa binuksan mata tinig boses
    kamay ulo mukha araw gabi umaga hapon kahapon bukas ngayon mamaya tao lalaki babae bata anak ina
    ama kapatid kaibigan bahay pinto bintana kalye lungsod bayan mundo buhay panahon taon oras lupa
    tubig apoy ilaw langit dagat ilog bato daan bago luma malaki maliit mabuti masama mahaba maikli
    malayo malapit dahan bigla sama salamat puso anino hangin ulan kahoy kanyang aking iyong
    kaniyang itong iyang noong nasa gaya tulad parang halos bilang
    """,
)

FINNISH: Final = language(
    "fi",
    home=False,
    letters="äö",
    signs=r"(?:ssa|ssä|sta|stä|lla|llä|lta|ltä|lle|ksi|nen|inen|vat|vät)$|ää|yy|öö",
    common="""
    ja on ei se hän oli että en mutta kun niin kuin jos tai vain nyt sen hänen minä sinä me te he
    mitä missä joka jotka ovat olivat olla ollut myös vielä jo sitten tämä tuo nämä kaikki mikään
    hyvin kanssa ilman
    """,
)

HUNGARIAN: Final = language(
    "hu",
    home=False,
    letters="áéíóöőúüű",
    signs=r"(?:ban|ben|nak|nek|val|vel|ság|ség|ott|ett|ják|ik)$|[őű]|sz|gy",
    common="""
    a az és hogy nem egy is van volt de ha meg csak már mint ez azt ezt el fel le ki be még akkor én
    te ő mi ti ők mit hol ami aki minden semmi nagyon vagy mert után alatt előtt között nélkül lesz
    lett lenni mondta
    """,
)
