package crashtest

import "testing"

// BenchmarkInterleave steps two transactions of five statements, one wait among them, through their
// interleavings.
func BenchmarkInterleave(b *testing.B) {
	r := stock(stockDSN(b), sends("INSERT INTO booking (seat, who) VALUES (1, 'x')", "UPDATE stock SET n = n-1 WHERE id = 1", "SELECT n FROM stock"))
	schedules := 0
	for b.Loop() {
		schedules += Interleave(b, r).Schedules
	}
	b.ReportMetric(float64(schedules)/b.Elapsed().Seconds(), "schedules/s")
}
