package schematest

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"time"
)

// moment is so many seconds after the fixtures' first second, as the database reads it.
func moment(seconds int) string {
	return time.Date(2005, 5, 24, 22, 0, 0, 0, time.UTC).Add(time.Duration(seconds) * time.Second).Format(time.DateTime)
}

// one is a number from 1 to n.
func one(r *rand.Rand, n int) int { return 1 + r.IntN(n) }

// maybe is v, or NULL once in n times.
func maybe(r *rand.Rand, n int, v any) any {
	if r.IntN(n) == 0 {
		return nil
	}
	return v
}

// names makes rows of a number and a name.
func names(b *batch, n int, what string) batch {
	for i := range n {
		b.add(i+1, fmt.Sprintf("%s %d", what, i+1))
	}
	return *b
}

func dvdRows(r *rand.Rand) []batch {
	const stores, staff, films, actors, customers, items, rentals, addresses = 3, 9, 80, 40, 90, 240, 700, 120
	city, address := into("city", "city_id city country_id"), into("address", "address_id street postcode city_id")
	for i := range 30 {
		city.add(i+1, fmt.Sprint("City ", i), one(r, 8))
	}
	for i := range addresses {
		address.add(i+1, fmt.Sprintf("%d O'Hara \\ Road", i), maybe(r, 5, fmt.Sprint(10000+i)), one(r, 30))
	}
	film := into("film", "film_id title release_year language_id original_language_id rating features")
	cast, kinds := into("film_actor", "actor_id film_id"), into("film_category", "film_id category_id")
	for i := range films {
		film.add(i+1, fmt.Sprintf("Film %d", i), 1950+r.IntN(60), one(r, 3), maybe(r, 2, one(r, 5)), maybe(r, 3, "PG"), maybe(r, 3, "trailers,commentary"))
		for _, a := range r.Perm(actors)[:r.IntN(7)] {
			cast.add(a+1, i+1)
		}
		for _, c := range r.Perm(6)[:1+r.IntN(2)] {
			kinds.add(i+1, c+1)
		}
	}
	store, people := into("store", "store_id manager_staff_id address_id"), into("staff", "staff_id name picture address_id store_id")
	store.add(1, 1, 1)
	store.add(2, 4, 2)
	store.add(3, 2, 3) // its manager is of store 1
	for i := range staff {
		people.add(i+1, fmt.Sprint("Staff ", i+1), maybe(r, 2, []byte{0, 0xff, '\'', '\\', byte(i)}), one(r, addresses), i%stores+1)
	}
	people.rows[1][4] = 1
	people.rows[3][4] = 2
	customer, stock := into("customer", "customer_id store_id name address_id joined"), into("inventory", "inventory_id film_id store_id")
	for i := range customers {
		customer.add(i+1, one(r, stores), fmt.Sprintf("Customer %d", i), one(r, addresses), moment(i*3600))
	}
	for i := range items {
		stock.add(i+1, one(r, films), one(r, stores))
	}
	rental := into("rental", "rental_id rental_date inventory_id customer_id return_date staff_id")
	payment := into("payment", "payment_id customer_id staff_id rental_id amount paid_at")
	for i := range rentals {
		who := one(r, customers)
		rental.add(i+1, moment(i*977), one(r, items), who, maybe(r, 10, moment(i*977+86400)), one(r, staff))
		payment.add(i+1, who, one(r, staff), maybe(r, 20, i+1), fmt.Sprintf("%d.99", r.IntN(10)), moment(i*977)+".123456")
	}
	return []batch{names(into("country", "country_id country"), 8, "Country"), *city, *address, names(into("language", "language_id name"), 5, "Language"),
		names(into("category", "category_id name"), 6, "Category"), names(into("actor", "actor_id first_name"), actors, "Actor"),
		*film, *cast, *kinds, *store, *people, *customer, *stock, *rental, *payment}
}

// digest is twenty bytes, not all of them text.
func digest(i int) []byte {
	return binary.BigEndian.AppendUint64([]byte{0, '\'', 0xff, '\\', '%', 0x80, '\n', '"', 0xc3, 0x28, '_', 0x1a}, uint64(i)) //nolint:gosec // a small number
}

func musicRows(r *rand.Rand) []batch {
	const artists, albums, tracks, lists, employees, customers, invoices = 20, 45, 300, 12, 24, 60, 150
	album := into("album", "album_id title artist_id")
	for i := range albums {
		album.add(i+1, fmt.Sprint("Album ", i), one(r, artists))
	}
	track := into("track", "track_id name isrc album_id media_type_id genre_id milliseconds unit_price")
	royalty, file := into("royalty", "isrc quarter amount"), into("track_file", "digest track_id bytes")
	mirror := into("track_file_mirror", "digest host")
	for i := range tracks {
		code := maybe(r, 4, fmt.Sprintf("QZ'%%\\%07d", i))
		track.add(i+1, fmt.Sprint("Track ", i), code, maybe(r, 10, one(r, albums)), one(r, 3), maybe(r, 5, one(r, 8)), 1000*i, "0.99")
		for q := range r.IntN(3) {
			if code != nil {
				royalty.add(code, fmt.Sprintf("20%02d-0%d-01", i%20, 1+3*q), fmt.Sprintf("%d.0625", i))
			}
		}
		for f := range r.IntN(3) {
			file.add(digest(i*10+f), i+1, uint64(1)<<63+uint64(i)) //nolint:gosec // a small number
			for h := range r.IntN(3) {
				mirror.add(digest(i*10+f), fmt.Sprintf("host-%d", h))
			}
		}
	}
	linked := into("playlist_track", "playlist_id track_id")
	share, visit := into("playlist_share", "token playlist_id"), into("share_visit", "token visited_at country")
	for i := range lists {
		for _, t := range r.Perm(tracks)[:r.IntN(60)] {
			linked.add(i+1, t+1)
		}
		for s := range r.IntN(4) {
			share.add(fmt.Sprintf("Tök'en-%d-%d", i, s), i+1)
			for v := range r.IntN(6) { // the same token to the database, not to Go
				visit.add(fmt.Sprintf("%s-%d-%d", []string{"Tök'en", "TÖK'EN", "tok'EN"}[v%3], i, s), moment(v)+fmt.Sprintf(".%06d", i), maybe(r, 2, "CH"))
			}
		}
	}
	employee, customer := into("employee", "employee_id name title reports_to"), into("customer", "customer_id name email support_rep_id")
	for i := range employees {
		var above any
		if i > 0 {
			above = (i-1)/3 + 1
		}
		employee.add(i+1, fmt.Sprint("Employee ", i+1), maybe(r, 3, "Clerk"), above)
	}
	for i := range customers {
		customer.add(i+1, fmt.Sprint("Customer ", i), fmt.Sprintf("c%d@example.org", i), maybe(r, 8, one(r, employees)))
	}
	invoice, line := into("invoice", "invoice_id customer_id invoice_date total"), into("invoice_line", "invoice_line_id invoice_id track_id quantity")
	for i := range invoices {
		invoice.add(i+1, one(r, customers), moment(i*86400), "1.98")
		for range r.IntN(6) {
			line.add(len(line.rows)+1, i+1, one(r, tracks), one(r, 3))
		}
	}
	return []batch{names(into("artist", "artist_id name"), artists, "Artist"), names(into("genre", "genre_id name"), 8, "Genre"),
		names(into("media_type", "media_type_id name"), 3, "Type"), *album, *track, *royalty, *file, *mirror,
		names(into("playlist", "playlist_id name"), lists, "List"), *linked, *share, *visit, *employee, *customer, *invoice, *line}
}

func hrRows(r *rand.Rand) []batch {
	const employees = 160
	codes := []string{"CH", "DE", "FR", "US", "CA", "BR", "JP", "IN", "AU", "ZA", "EG", "KE"}
	country, location := into("countries", "country_id country_name region_id"), into("locations", "location_id street city country_id")
	for i, code := range codes {
		country.add(code, "Country "+code, i/3+1)
	}
	for i := range 24 {
		location.add(1000+i, maybe(r, 3, fmt.Sprint(i, " Main St")), fmt.Sprint("City ", i), codes[r.IntN(len(codes))])
	}
	job := into("jobs", "job_id job_title min_salary")
	ids := []string{"AD_PRES", "AD_VP", "IT_PROG", "ST_CLERK", "SA_REP", "O'JOB\\%", "übung", "R&D"}
	for i, id := range ids {
		job.add(id, "Job "+id, maybe(r, 3, 1000*i))
	}
	department := into("departments", "department_id department_name manager_id location_id")
	for i := range 27 {
		department.add(10*i+10, fmt.Sprint("Department ", i), maybe(r, 3, 99+one(r, employees)), maybe(r, 6, 999+one(r, 24)))
	}
	employee := into("employees", "employee_id name email hire_date job_id salary manager_id department_id")
	history := into("job_history", "employee_id start_date end_date job_id department_id")
	note, badge := into("history_notes", "employee_id start_date line note"), into("badges", "badge_id employee_id replaces")
	for i := range employees {
		id := 100 + i
		var above any
		if i > 5 {
			above = 100 + r.IntN(i) // the first ones have nobody above
		}
		employee.add(id, fmt.Sprint("Employee ", id), fmt.Sprint("E", id), moment(i * 86400)[:10], ids[r.IntN(len(ids))], "5000.00", above, 10*one(r, 27))
		for h := range r.IntN(4) {
			begin := fmt.Sprintf("199%d-09-21", h)
			history.add(id, begin, fmt.Sprintf("199%d-08-31", h+1), ids[r.IntN(len(ids))], maybe(r, 3, 10*one(r, 27)))
			for l := range r.IntN(3) {
				note.add(id, begin, l-1, "it's \x00 \\ \"noted\"")
			}
		}
		var before any
		for b := range 1 + r.IntN(3) {
			badge.add(digest(i*10 + b)[4:], id, before)
			before = digest(i*10 + b)[4:]
		}
	}
	return []batch{names(into("regions", "region_id region_name"), 4, "Region"), *country, *location, *job, *department, *employee, *history, *note, *badge}
}
