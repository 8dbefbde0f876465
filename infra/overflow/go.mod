module github.com/JohnCGriffin/overflow

go 1.26.0
