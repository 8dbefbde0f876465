package synthetic

// The names of the sample. Some are not ASCII, as real data are not.
var (
	firstNames = []string{
		"Ada", "Alan", "Alma", "Anton", "Beda", "Björn", "Carl", "Clara", "Cyril", "Dora", "Edith", "Edsger", "Elif",
		"Emil", "Emmy", "Erik", "Fanny", "Felix", "Frida", "Georg", "Grace", "Greta", "Hanna", "Hedy", "Hugo", "Ida",
		"Ingrid", "Isak", "Ivo", "Jakob", "Jana", "Joan", "Karin", "Konrad", "Lea", "Leon", "Lina", "Ludwig", "Magda",
		"Maja", "Marie", "Matti", "Mira", "Nadia", "Nils", "Noor", "Olga", "Oskar", "Otto", "Paula", "Pia", "René",
		"Rosa", "Rudolf", "Selma", "Signe", "Sofía", "Sonja", "Søren", "Tove", "Uma", "Vera", "Viktor", "Wanda", "Zoë",
	}
	surnames = []string{
		"Ahorn", "Apfel", "Asp", "Birke", "Buche", "Dorn", "Eibe", "Eiche", "Erle", "Esche", "Farn", "Fichte", "Ginster",
		"Hasel", "Heide", "Holunder", "Kastanie", "Kiefer", "Klee", "Linde", "Lärche", "Mistel", "Nuss", "Pappel",
		"Quitte", "Rose", "Schlehe", "Tanne", "Ulme", "Wacholder", "Weide", "Zeder", "Zirbel", "Zypresse",
	}
	regionNames   = []string{"Northmark", "Eastmark", "Southmark", "Westmark"}
	districtNames = []string{
		"Upper Vale", "Middle Vale", "Lower Vale", "Old Forest", "New Forest", "Mill District",
		"Lake District", "River District", "Salt Coast", "Amber Coast", "High Moor", "Low Moor",
	}
	villageNames = []string{
		"Aldbrook", "Ashford", "Barrow", "Beckstead", "Birkby", "Bramley", "Caldwell", "Carrick", "Coldharbour",
		"Dalby", "Dunmere", "Eastleigh", "Ellerton", "Fairwater", "Fenwick", "Glenholm", "Grimsel", "Hallow",
		"Hartmoor", "Holmby", "Inverley", "Kelbrook", "Kirkhaven", "Langdale", "Lindow", "Marrick", "Moorgate",
		"Netherby", "Oakhurst", "Penrose", "Ravensby", "Seaton", "Thornwick", "Ullswick", "Wetherby", "Yarrow",
	}
)

// The names of the drugs.
var (
	proteinFamilies = []string{
		"AKR", "BEN", "CIT", "DOR", "ELM", "FAR", "GOL", "HIN", "JUT", "KAV", "LUR", "MIP", "NOX", "ORL", "PAX", "RIV", "SOL", "TYM", "VAN", "ZUR",
	}
	drugPrefixes = []string{
		"Ard", "Bel", "Bri", "Cor", "Dra", "Fen", "Gal", "Hal", "Jor", "Kel", "Lum", "Mer", "Nov", "Ost", "Pel", "Quil", "Ros", "Sab", "Tor", "Wen",
	}
	drugSuffixes = []string{
		"amil", "atrix", "avist", "azent", "ectal", "elor", "enast", "erane", "ibral", "idar", "idene", "imod", "omet", "ondil", "opal", "oxen", "ulon", "usal",
		"uvin", "yrin",
	}
	sideEffects = []string{
		"blurred vision", "chills", "cough", "cramps", "dizziness", "dry mouth", "fatigue", "headache", "hiccups", "hives", "insomnia", "itching",
		"loss of appetite", "nausea", "nosebleed", "palpitations", "rash", "restlessness", "ringing ears", "sneezing", "sweating", "thirst", "tremor",
		"weight gain",
	}
)

// The names of the shop. Each category has its products.
var (
	brandNames = []string{
		"Alba", "Bravura", "Cedro", "Delmar", "Elara", "Fjord", "Grano", "Halden", "Indra", "Jonas & Sons", "Korell", "Lumen", "Marlo", "Nordlys", "Oriel",
		"Pinto", "Quarz", "Rilke", "Solveig", "Tarn", "Umbra", "Velo", "Wrenn", "Zephyr",
	}
	categoryNames = []string{"kitchen", "garden", "sports", "office", "toys", "music", "travel", "lighting", "clothing", "tools"}
	productNames  = [][]string{
		{"kettle", "pan", "toaster", "knife", "mixer"}, {"spade", "rake", "hose", "planter", "shears"}, {"racket", "ball", "helmet", "skates", "bicycle"},
		{"pen", "stapler", "desk", "notebook", "printer"}, {"puzzle", "kite", "blocks", "doll", "train set"}, {"guitar", "flute", "drum", "violin", "harp"},
		{"suitcase", "backpack", "tent", "map", "pillow"}, {"lamp", "lantern", "chandelier", "torch", "candle"}, {"coat", "scarf", "gloves", "boots", "hat"},
		{"hammer", "saw", "drill", "wrench", "chisel"},
	}
)

// The names of the hierarchy: a level of terms has adjectives of its own.
var (
	partNames      = []string{"bearing", "blade", "gear", "hinge", "lamp", "lock", "nozzle", "pump", "spring", "switch", "valve", "wheel"}
	partAdjectives = [][]string{
		{"brass", "ceramic", "copper", "glass", "nylon", "oak", "rubber", "steel"},
		{"curved", "double", "flat", "large", "long", "small"},
		{"cooled", "folding", "heavy", "painted", "coated", "silent"},
	}
	machineNames = []string{
		"baler", "bottler", "crane", "dredger", "elevator", "excavator", "ferry", "forklift", "grinder", "harvester", "kiln", "lathe", "loom", "mill",
		"press", "sawmill", "sorter", "tractor", "turbine", "winch",
	}
	propertyNames = []string{
		"bends", "burns", "can be polished", "can be welded", "conducts heat", "conducts power", "corrodes", "dampens noise", "dents", "expands", "fades",
		"floats",
		"glows", "holds pressure", "insulates", "is brittle", "is cheap", "is elastic", "is forged", "is glued", "is hollow", "is magnetic", "is patented",
		"is porous",
		"is recycled", "is rigid", "is rare", "is toxic", "needs cooling", "needs grease", "needs power", "reflects light", "resists acid", "resists frost",
		"resists salt",
		"resists wear", "rotates", "is airtight", "shrinks", "vibrates",
	}
)
