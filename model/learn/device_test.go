package learn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"tagnet/formats/workspace/metrics"
	"tagnet/model/engine/device"
	"tagnet/model/engine/kernel"
	"tagnet/model/learn/learntest"
)

// onDevice returns a training on a device that computes with the kernels that the training would have on the CPU.
func onDevice(t *testing.T, name string, mode device.Mode) (Run, Data, *learntest.Devices) {
	t.Helper()
	run, data := toyRun(inMemory(t, name)), toy(t)
	k, err := kernel.Named(run.Kernel)
	if err != nil {
		t.Fatal(err)
	}
	devices := &learntest.Devices{Kernel: k}
	run.Device, data.Devices = device.Choice{Mode: mode}, devices
	return run, data, devices
}

// onCPU returns the checkpoints of the same training on the CPU.
func onCPU(t *testing.T) map[string]string {
	t.Helper()
	run := toyRun(inMemory(t, "cpu"))
	train(t, run, toy(t))
	return contents(t, run.Checkpoints)
}

// TestAReachOfAllEntitiesTakesADevice checks that auto takes a device for a reach that leaves nothing out, and the CPU
// for a smaller one.
func TestAReachOfAllEntitiesTakesADevice(t *testing.T) {
	t.Parallel()
	for _, fewer := range []int{0, 1} {
		run, data, devices := onDevice(t, fmt.Sprint("reach", fewer), device.Auto)
		run.Configuration.Reach = data.Graph.Entities - fewer
		train(t, run, data)
		if got := slices.Contains(devices.Operations, "open"); got != (fewer == 0) {
			t.Errorf("a reach of all but %d entities: on a device: %t", fewer, got)
		}
	}
}

// TestDeviceStoresBeforeEachCheckpoint checks that checkpoints and validations of a training on a device contain its
// last step: the test's device computes the same bits in copies of its own.
func TestDeviceStoresBeforeEachCheckpoint(t *testing.T) {
	t.Parallel()
	for _, every := range []time.Duration{0, time.Hour} {
		for _, validations := range []int{1, 3} {
			t.Run(fmt.Sprint(every, validations), func(t *testing.T) {
				cpu := toyRun(inMemory(t, "cpu"))
				cpu.Validation.Every = validations
				train(t, cpu, toy(t))
				want := contents(t, cpu.Checkpoints)
				run, data, devices := onDevice(t, "device", device.Auto)
				run.Every, run.Validation.Every = every, validations
				train(t, run, data)
				sameFiles(t, want, contents(t, run.Checkpoints))
				if got := devices.Operations; got[0] != "open" || got[len(got)-1] != "close trainer" && got[len(got)-1] != "close scorer" {
					t.Errorf("operations %q", got)
				}
				history, err := metrics.ReadHistory(t.Context(), run.History)
				if err != nil || len(history) != 4 || history[3].Kernel != "cuda" {
					t.Errorf("history %+v, %v, want 4 epochs of the device", history, err)
				}
				stored := true
				trainers, scorers, alone := 0, 0, 0
				for i, operation := range devices.Operations {
					switch operation {
					case "step":
						stored = false
						if devices.Operations[i-1] != "announced" {
							alone++
						}
					case "store":
						stored = true
					case "trainer":
						trainers++
					case "scorer":
						scorers++
					case "close trainer":
						if trainers--; !stored {
							t.Error("a trainer was closed with steps that are not stored")
						}
					case "close scorer":
						scorers--
					}
					if trainers+scorers > 1 {
						t.Errorf("%d trainers and %d scorers are open at the same time", trainers, scorers)
					}
				}
				if alone != 4 {
					t.Errorf("%d steps were not announced, want the first of each epoch", alone)
				}
				if trainers != 0 || scorers != 0 {
					t.Errorf("%d trainers and %d scorers are left open", trainers, scorers)
				}
			})
		}
	}
}

// TestFailedDeviceWritesNothing ends a training of two epochs at each operation of the device, in turn, and resumes it
// on the CPU.
func TestFailedDeviceWritesNothing(t *testing.T) {
	t.Parallel()
	cpu := toyRun(inMemory(t, "cpu"))
	cpu.Configuration.Epochs = 2
	train(t, cpu, toy(t))
	want := contents(t, cpu.Checkpoints)
	for _, every := range []time.Duration{0, time.Hour} {
		for _, operation := range []string{"trainer", "step", "store", "scorer", "score", "close trainer", "close scorer"} {
			t.Run(fmt.Sprint(every, operation), func(t *testing.T) {
				for after := 0; ; after += 1 + 3*after {
					run, data, devices := onDevice(t, fmt.Sprint(after), device.Auto)
					run.Every, run.Configuration.Epochs = every, 2
					left := after
					var before map[string]string
					devices.Fail = func(name string) error {
						if before != nil && name != "close" {
							return device.ErrLost // also in later operations
						}
						if name == operation {
							if left--; left < 0 {
								before = contents(t, run.Checkpoints)
								return fmt.Errorf("imaginary:0: %w", device.ErrLost)
							}
						}
						return nil
					}
					_, err := Train(t.Context(), run, data, nil)
					if err == nil {
						if before != nil {
							t.Fatal("the training succeeded on a lost device")
						}
						return // the training is complete before this operation
					}
					if !errors.Is(err, device.ErrLost) || !strings.HasPrefix(operation, "close") && !strings.Contains(err.Error(), "--resume --device cpu") {
						t.Fatalf("failure %d: %v, want the remedy for a lost device", after, err)
					}
					sameFiles(t, before, contents(t, run.Checkpoints))
					if last := devices.Operations[len(devices.Operations)-1]; last != "close" {
						t.Errorf("the last operation is %s, want that the device is closed", last)
					}
					run.Device = device.Choice{}
					other := ""
					if _, err := Train(t.Context(), run, data, func(p Progress) { other += p.OtherKernel }); err != nil {
						t.Fatal(err)
					}
					finished := func(epoch string) bool { return before["epoch-"+epoch+".safetensors"] != "" }
					if finished("001") && !finished("002") && other != "cuda" {
						t.Errorf("the epoch before was trained on %q, want a device", other)
					}
					sameFiles(t, want, contents(t, run.Checkpoints))
				}
			})
		}
	}
}

// TestUnusableDeviceFallsBack trains on a device that fails at the beginning of a phase.
func TestUnusableDeviceFallsBack(t *testing.T) {
	t.Parallel()
	want := onCPU(t)
	for _, test := range []struct {
		operation string
		err       error
	}{
		{"open", device.ErrMemory}, {"trainer", device.ErrMemory}, {"step", device.ErrMemory}, {"scorer", device.ErrMemory}, {"score", device.ErrMemory},
		{"open", device.ErrOldDriver}, {"trainer", device.ErrRefused}, {"scorer", errors.New("too many edges")},
	} {
		for _, mode := range []device.Mode{device.Auto, device.CUDA} {
			t.Run(fmt.Sprint(test.operation, mode, test.err), func(t *testing.T) {
				run, data, devices := onDevice(t, "device", mode)
				devices.Fail = func(name string) error {
					if name == test.operation {
						return fmt.Errorf("imaginary:0: %w", test.err)
					}
					return nil
				}
				var notices []string
				_, err := Train(t.Context(), run, data, func(p Progress) {
					if p.Notice != "" {
						notices = append(notices, p.Notice)
					}
				})
				if mode == device.CUDA {
					if !errors.Is(err, test.err) || strings.Contains(err.Error(), "learning_rate") {
						t.Errorf("error %v, want that of the device", err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				sameFiles(t, want, contents(t, run.Checkpoints))
				if last := notices[len(notices)-1]; !strings.HasPrefix(last, "computing on the CPU: ") || !strings.Contains(last, "imaginary:0: ") ||
					len(notices) > 2 {
					t.Errorf("notices %q, want one that the CPU takes over", notices)
				}
			})
		}
	}
}

// TestFullDeviceInTheMiddle checks that a training which has made steps on a device does not continue on the CPU by
// itself, since that may take a hundred times as long.
func TestFullDeviceInTheMiddle(t *testing.T) {
	t.Parallel()
	run, data, devices := onDevice(t, "device", device.Auto)
	steps := 0
	devices.Fail = func(name string) error {
		if name == "step" {
			if steps++; steps == 2 {
				return device.ErrMemory
			}
		}
		return nil
	}
	if _, err := Train(t.Context(), run, data, nil); !errors.Is(err, device.ErrMemory) || !strings.Contains(err.Error(), "--resume --device cpu") {
		t.Errorf("error %v, want a remedy", err)
	}
	if files := contents(t, run.Checkpoints); len(files) > 0 {
		t.Errorf("%d files were written", len(files))
	}
}

// TestInterruptedDeviceStores interrupts a training between two checkpoints.
func TestInterruptedDeviceStores(t *testing.T) {
	t.Parallel()
	want := onCPU(t)
	run, data, devices := onDevice(t, "device", device.CUDA)
	for stops := 1; ; stops++ {
		ctx, cancel := context.WithCancel(t.Context())
		steps := 0
		_, err := Train(ctx, run, data, func(p Progress) {
			if p.Queries > 0 && p.Validated == 0 && p.Resumed == "" && p.Notice == "" && p.Finished == nil {
				if steps++; steps == 2 {
					cancel()
				}
			}
		})
		cancel()
		if err == nil {
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		for _, operation := range slices.Backward(devices.Operations) {
			if operation == "step" {
				t.Fatal("the last step is not stored")
			}
			if operation == "store" {
				break
			}
		}
		if stops > 1000 {
			t.Fatal("no end")
		}
	}
	sameFiles(t, want, contents(t, run.Checkpoints))
}
