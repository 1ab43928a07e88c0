package landscape

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// CPU returns the CPU time of the server so far.
func (s *Server) CPU() (time.Duration, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.PID()))
	if err != nil {
		return 0, fmt.Errorf("read the CPU time of the server: %w", err)
	}
	return parseCPU(string(content))
}

func parseCPU(stat string) (time.Duration, error) {
	// The name of the program may contain blanks; it ends with a parenthesis.
	_, after, _ := strings.Cut(stat, ") ")
	fields := strings.Fields(after)
	if len(fields) < 13 {
		return 0, fmt.Errorf("read the CPU time of the server: %d fields", len(fields))
	}
	var ticks int64
	for _, field := range fields[11:13] {
		value, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("read the CPU time of the server: %w", err)
		}
		ticks += value
	}
	const ticksPerSecond = 100
	return time.Duration(ticks) * time.Second / ticksPerSecond, nil
}

// PeakMemory returns the largest memory that the server has occupied so far, in bytes.
func (s *Server) PeakMemory() (int64, error) { return s.memory("VmHWM:") }

// Memory returns the memory that the server occupies now, in bytes.
func (s *Server) Memory() (int64, error) { return s.memory("VmRSS:") }

func (s *Server) memory(field string) (int64, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.PID()))
	if err != nil {
		return 0, fmt.Errorf("read the memory of the server: %w", err)
	}
	return parseMemory(string(content), field)
}

func parseMemory(status, field string) (int64, error) {
	_, after, found := strings.Cut(status, field)
	if !found {
		return 0, fmt.Errorf("read the memory of the server: there is no %s", field)
	}
	var kilobytes int64
	if _, err := fmt.Sscan(after, &kilobytes); err != nil {
		return 0, fmt.Errorf("read the memory of the server: %s %w", field, err)
	}
	return kilobytes << 10, nil
}
