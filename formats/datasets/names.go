package datasets

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
