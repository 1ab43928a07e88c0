package main

import "fmt"

// row writes one line of the table: a figure with its goal, which may be empty.
type row func(what, figure, goal string)

func (p Phase) print(row row, name string) {
	row(name+"installations per second", fmt.Sprintf("%.1f", p.PerSecond), "")
	row(name+"server CPU per installation", fmt.Sprintf("%.1f ms", p.CPUMillis), "")
	row(name+"requests per installation", fmt.Sprintf("%.1f", p.RequestsEach), "")
	p.printTraffic(row, name)
}

func (p Phase) printTraffic(row row, name string) {
	row(name+"watch events per installation", fmt.Sprintf("%.1f", p.EventsEach), "")
	row(name+"KiB of watch events per installation", fmt.Sprintf("%.1f", p.BytesEach/(1<<10)), "")
}

func (r Run) print(row row) {
	name := fmt.Sprintf("N=%d: ", r.Installations)
	row(name+"installations per second", fmt.Sprintf("%.1f", r.Flat.PerSecond), "")
	row(name+"share of the calibrated limit", fmt.Sprintf("%.0f %%", 100*r.ShareOfLimit), "75 %")
	row(name+"server CPU per installation", fmt.Sprintf("%.1f ms", r.Flat.CPUMillis), "12 ms")
	row(name+"requests per installation", fmt.Sprintf("%.1f", r.Flat.RequestsEach), "")
	r.Flat.printTraffic(row, name)
	row(name+"first half finished at", fmt.Sprintf("%.0f %%", 100*r.Flat.FirstHalfAt), "50 %")
	row(name+"server memory", fmt.Sprintf("%.0f MB", r.MaxMemoryMBytes), "")
	r.Again.print(row, name+"again: ")
	row(name+"idle requests per minute", fmt.Sprintf("%.0f", r.IdlePerMinute), "0")
	row(name+"memory per settled tree", fmt.Sprintf("%.0f KiB", r.KiBPerTree), "60 KiB")
	r.Delete.print(row, name+"delete: ")
	row(name+"delete: speed, creation is 100 %", fmt.Sprintf("%.0f %%", 100*r.Delete.PerSecond/r.Flat.PerSecond), "100 %")
}

// print compares with the usual cost of as many that have nothing beside them.
func (t Trouble) print(row row, usual Phase) {
	name := fmt.Sprintf("%d blocked: ", t.Installations)
	t.Blocked.print(row, name)
	row(name+"requests per minute of all", fmt.Sprintf("%.0f", t.BlockedPerMinute), "0")
	t.Released.print(row, name+"released: ")
	name = fmt.Sprintf("%d failing: ", t.Installations)
	row(name+"attempts of each", fmt.Sprintf("%.1f", t.AttemptsEach), fmt.Sprintf("%d", mostAttempt))
	row(name+"requests per installation", fmt.Sprintf("%.1f", t.Failing.RequestsEach), "")
	row(name+"server CPU per installation", fmt.Sprintf("%.1f ms", t.Failing.CPUMillis), "")
	name = fmt.Sprintf("beside %d on a dead target: ", t.Dead)
	row(name+"share of the usual speed", fmt.Sprintf("%.0f %%", 100*t.Beside.PerSecond/usual.PerSecond), "100 %")
	row(name+"requests per installation", fmt.Sprintf("%.1f", t.Beside.RequestsEach), fmt.Sprintf("%.1f", usual.RequestsEach))
}
